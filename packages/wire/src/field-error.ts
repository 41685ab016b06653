/** One field error of a request: the field, and how to fix it. */
export type FieldError = {
  /** `body.name`, `query.size`, `body.secretConfig.apiToken`, `header.if-match` … */
  field: string
  message: string
  /** Of an expression: the part of its text that is wrong. Only in `mappingErrors` of a preview. */
  place?: ExpressionProblem
}

/** Why an expression is wrong, where, and the text that corrects it if only one does. Indexes and lengths are in UTF-16 code units. */
export type ExpressionProblem = {
  readonly at: number
  readonly length: number
  readonly message: string
  readonly fix?: { readonly at: number; readonly length: number; readonly text: string }
}
