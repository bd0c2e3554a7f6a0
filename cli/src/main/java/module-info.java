/** The {@code minifloat} command. */
module dev.minifloat.cli {
  requires dev.minifloat;
  requires dev.minifloat.contract;
  requires dev.minifloat.cuda;
  requires dev.minifloat.cuda.sim;
  requires dev.minifloat.encoder;
  requires dev.minifloat.formats;
  requires dev.minifloat.kernels;
  requires info.picocli;
  requires java.desktop;
  requires java.management;
  requires java.xml;
  requires jdk.management;
  requires me.tongfei.progressbar;
  requires org.apache.xmlgraphics.batik.svggen;
  requires org.jline.reader;
  requires org.jline.terminal;
  requires org.jfree.jfreechart;
  requires tools.jackson.databind;

  // picocli fills annotated fields.
  opens dev.minifloat.cli to
      info.picocli;
}
