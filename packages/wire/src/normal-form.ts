/** Combining marks in a row that are normalised together: the bound of Unicode's Stream-Safe Text Format (UAX 15). */
const marksMax = 30
/** A mark, a letter that becomes one or begins with one, or a vowel that joins the vowel before it. */
const mark = '[\\p{M}\\u0e33\\u0eb3\\uff9e\\uff9f\\u{16d63}-\\u{16d6a}]'
const manyMarks = new RegExp(`${mark}{${marksMax + 1}}`, 'u')
const pieces = new RegExp(`[^${mark.slice(1)}*${mark}{0,${marksMax}}`, 'gu')

/**
 * Normalises a text in time proportional to its length. `String.normalize` sorts the combining marks that follow each other,
 * in time proportional to the square of their number. No script needs more than 30 of them in a row: longer runs are
 * normalised in parts.
 */
export function toNormalForm(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  if (text.length <= marksMax || !manyMarks.test(text)) return text.normalize(form)
  return text.replace(pieces, (piece) => piece.normalize(form))
}
