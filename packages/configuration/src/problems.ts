/** A place in a file; lines and columns are counted from 1. */
export type Position = { readonly file: string; readonly line: number; readonly column: number }

/** Finds the position of a part of an entry, to name it in a problem. */
export type Locate = (...path: readonly (string | number)[]) => Position

/** One problem, for a person: what is wrong and what to do. */
export type Problem = { readonly message: string; readonly at?: Position | undefined }

/** How many problems are shown. */
const problemsMax = 100

/** Files, references or the service do not allow a plan. Nothing was changed. */
export class ConfigurationError extends Error {
  override name = 'ConfigurationError'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    const lines = problems.slice(0, problemsMax).map(describeProblem)
    if (problems.length > problemsMax) lines.push(`… and ${problems.length - problemsMax} more`)
    super(lines.join('\n'))
    this.problems = problems
  }
}

export const describeProblem = ({ message, at }: Problem): string =>
  printable(at ? `${describePosition(at)}: ${message}` : message)

export const describePosition = ({ file, line, column }: Position): string => `${file}:${line}:${column}`

/** Spells out characters that a terminal would interpret or would show in another order. */
export const printable = (text: string): string =>
  text.replaceAll(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
