/**
 * A text in the form in which it is compared with the values of a mapping and of a table: without case and surrounding spaces.
 */
export const answerKey = (text: string): string => text.trim().toLowerCase()
