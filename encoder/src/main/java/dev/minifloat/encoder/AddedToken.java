package dev.minifloat.encoder;

/**
 * A token that is looked for in the text itself, before any splitting into words.
 *
 * @param id its id
 * @param content its text, not empty
 * @param singleWord whether it counts only where no word character touches it
 * @param stripLeft whether it takes the white space before it
 * @param stripRight whether it takes the white space after it
 * @param normalized whether its normal form is looked for in the normalized text, rather than its
 *     text in the raw one
 * @param special whether it is special; of two that normalize alike, a special one goes first
 */
record AddedToken(
    int id,
    String content,
    boolean singleWord,
    boolean stripLeft,
    boolean stripRight,
    boolean normalized,
    boolean special) {}
