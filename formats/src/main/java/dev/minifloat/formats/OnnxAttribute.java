package dev.minifloat.formats;

import java.util.List;

/**
 * The value of an attribute of a node (ONNX {@code AttributeProto}). Its tensors and graphs are not
 * read.
 */
public sealed interface OnnxAttribute {
  /**
   * An integer.
   *
   * @param value its value
   */
  record IntValue(long value) implements OnnxAttribute {}

  /**
   * A number in binary32.
   *
   * @param value its value
   */
  record FloatValue(float value) implements OnnxAttribute {}

  /**
   * Text; bytes that aren't UTF-8 are replaced.
   *
   * @param value its value
   */
  record TextValue(String value) implements OnnxAttribute {}

  /**
   * A list of integers.
   *
   * @param values its elements
   */
  record IntList(List<Long> values) implements OnnxAttribute {
    /** Keeps a copy. */
    public IntList {
      values = List.copyOf(values);
    }
  }

  /**
   * A list of numbers in binary32.
   *
   * @param values its elements
   */
  record FloatList(List<Float> values) implements OnnxAttribute {
    /** Keeps a copy. */
    public FloatList {
      values = List.copyOf(values);
    }
  }

  /**
   * A list of texts.
   *
   * @param values its elements
   */
  record TextList(List<String> values) implements OnnxAttribute {
    /** Keeps a copy. */
    public TextList {
      values = List.copyOf(values);
    }
  }

  /**
   * A tensor, a graph, a type, or nothing: present, and not read.
   *
   * @param type the number in {@code AttributeProto.AttributeType}; 0 where the file gives none
   */
  record Unread(int type) implements OnnxAttribute {}
}
