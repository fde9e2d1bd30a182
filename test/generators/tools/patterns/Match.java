import java.util.regex.Pattern;

/**
 * Prints for each pattern of the standard input which of its texts match, as 0 and 1. Each line is a list of code points;
 * an empty line ends the patterns.
 */
class Match {
  public static void main(String[] args) throws Exception {
    var lines = new String(System.in.readAllBytes()).lines().toList();
    var end = lines.indexOf("");
    for (var pattern : lines.subList(0, end)) {
      var compiled = Pattern.compile(decode(pattern));
      var matches = new StringBuilder();
      for (var text : lines.subList(end + 1, lines.size())) {
        matches.append(compiled.matcher(decode(text)).find() ? "1" : "0");
      }
      System.out.println(matches);
    }
  }

  private static String decode(String line) {
    var text = new StringBuilder();
    for (var codePoint : line.split(" ")) text.appendCodePoint(Integer.parseInt(codePoint));
    return text.toString();
  }
}
