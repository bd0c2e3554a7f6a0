package dev.minifloat.cli.report;

/** The frame of a report: a page that needs nothing else, no script, no font, no network. */
public final class HtmlPage {
  private static final String STYLE =
      """
      :root { color-scheme: light; }
      body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff;
             max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }
      h1 { font-size: 1.7rem; line-height: 1.2; margin-bottom: .3rem; }
      h2 { font-size: 1.2rem; margin: 2.2rem 0 .4rem; }
      p.lead, figcaption, .note { color: #555; }
      .note, figcaption { font-size: .9rem; }
      .wide { overflow-x: auto; }
      table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
      th, td { padding: .3rem .7rem; text-align: left; vertical-align: top;
               border-bottom: 1px solid #ddd; }
      thead th { border-bottom: 2px solid #888; vertical-align: bottom; white-space: nowrap; }
      tbody th { font-weight: 600; white-space: nowrap; }
      .number { text-align: right; }
      tr.first td, tr.first th { border-top: 2px solid #888; }
      figure { margin: 1rem 0; }
      svg { display: block; max-width: 980px; height: auto; }
      code { background: #f2f2f2; padding: .1rem .3rem; border-radius: 3px; }
      .missing { border-left: 4px solid #d55e00; padding: .3rem .8rem; background: #fdf3ee; }
      """;

  private HtmlPage() {}

  /**
   * A page.
   *
   * @param title its title and heading, plain text
   * @param body what follows the heading, HTML
   */
  public static String of(String title, String body) {
    return """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>%s</title>
    <style>
    %s</style>
    </head>
    <body>
    <h1>%s</h1>
    %s</body>
    </html>
    """
        .formatted(escaped(title), STYLE, escaped(title), body);
  }

  /** Plain text as HTML. */
  public static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
