import type { Place, Value, ValueKind } from '../values.ts'

/** How the values of a language behave, for functions of both. */
export type Values = {
  /** A value as a text. Throws an `ExpressionError` if it is not a text, or too long. */
  readonly textOf: (value: Value, site: CallSite) => string
  /** Less than 0 if the first value is less, more than 0 if it is more. */
  readonly order: (left: Value, right: Value, site: CallSite) => number
  /** A list or an object inside JSON as a value. */
  readonly nested: (value: object) => Value
  /** Whether other notations of a time are read, such as RFC 2822. */
  readonly readsAnyTime: boolean
}

/** The place of a call, and how it fails. */
export type CallSite = Place & {
  readonly values: Values
  /**
   * In mappings, throws an `ExpressionError` with a reason, which follows the text of the first argument. In definitions, returns null,
   * because another company writes the values.
   */
  readonly fail: (why: string) => null
}

/** A part of an expression that is ready to be evaluated. */
export type Compiled<Input = never> = {
  readonly kind: ValueKind
  readonly run: (input: Input) => Value
  /** Its value if it is always the same. */
  readonly fixed?: Value
}

/** The value of a call. Arguments have the kinds of its facts. Numbers and times can be empty. Null means no value. */
export type Run = (args: readonly Value[], site: CallSite) => Value

/** The code of a function. */
export type ExpressionFunction = {
  readonly run?: Run
  /** The same for a function that does not evaluate all of its arguments. */
  readonly runLazily?: <Input>(args: readonly Compiled<Input>[], site: CallSite) => (input: Input) => Value
  /** The older meaning that definitions keep. */
  readonly runInDefinitions?: Run
  /** The kind of its value if that depends on the arguments. */
  readonly kindOf?: (args: readonly Pick<Compiled, 'kind' | 'fixed'>[]) => ValueKind
  /** Why fixed arguments are not valid; checked once. @param fixed by index; `undefined` for other arguments */
  readonly refuse?: (fixed: readonly Value[]) => string | undefined
}

/** Functions by name. Most functions have only a `run`. */
export type Functions = Readonly<Record<string, Run | ExpressionFunction>>
