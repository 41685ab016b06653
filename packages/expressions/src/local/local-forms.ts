/**
 * Numbers and times in the notation of a country. A text that can be read in only one way is read. If it can be read in two ways,
 * the mapping must define which one applies. Nothing is guessed.
 */

/** How the values of a column are written, as the mapping defines it. */
export type LocalForm = {
  /** The sign before the decimals. */
  readonly numbers?: NumberForm
  /** The unit before or after numbers, such as `€` or `%`, which is not part of the value. Only with `numbers`. */
  readonly unit?: string
  /** The order of day, month and year. */
  readonly dates?: DateForm
  /** The time zone of times without a zone, by its IANA name. */
  readonly timezone?: string
}
export const numberForms = ['comma', 'point'] as const
export type NumberForm = (typeof numberForms)[number]
export const dateForms = ['DMY', 'MDY', 'YMD'] as const
export type DateForm = (typeof dateForms)[number]

/** A text in the form that destinations accept, or an error to follow the name of a field. */
export type LocalRead =
  | { readonly text: string; readonly wrong?: never }
  | { readonly text?: never; readonly wrong: string }
