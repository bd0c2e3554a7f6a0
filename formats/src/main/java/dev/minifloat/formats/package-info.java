/**
 * Tensors in files: <a href="https://github.com/huggingface/safetensors#format">safetensors</a>,
 * read and written, and the initializers of <a href="https://onnx.ai">ONNX</a> models, read.
 *
 * <p>Everything that can be opened is a {@link dev.minifloat.formats.TensorFile}: named tensors
 * over a memory map. Nothing is copied and nothing converted; a tensor is its {@link
 * dev.minifloat.formats.TensorInfo} and a {@link java.lang.foreign.MemorySegment} of its bytes.
 *
 * <pre>{@code
 * try (TensorFile model = TensorFiles.open(Path.of("model.safetensors"))) {
 *   for (TensorInfo tensor : model.tensors()) {
 *     System.out.println(tensor.name() + " " + tensor.type() + " " + tensor.shape());
 *   }
 *   MemorySegment data = model.data("embeddings.weight");
 *   double first = model.info("embeddings.weight").type().decode(data, 0);
 *   HostTensor weights = model.tensor("embeddings.weight"); // ready to upload
 * }
 * }</pre>
 *
 * <p>{@link dev.minifloat.formats.StorageType} has every type that these files can hold; those that
 * backends compute with have a {@link dev.minifloat.formats.StorageType#dtype() dtype}. {@link
 * dev.minifloat.formats.Safetensors} opens models in several files, {@link
 * dev.minifloat.formats.OnnxFile} has the nodes of a model's graph too, and {@link
 * dev.minifloat.formats.SafetensorsWriter} writes files of any size with little memory.
 *
 * <p>A damaged or hostile file is a {@link dev.minifloat.formats.FileFormatException}, which names
 * the file, the tensor and the byte. No size that a file claims is believed before the bytes are
 * there, so that memory is taken in proportion to what the file describes, never to what it says.
 */
package dev.minifloat.formats;
