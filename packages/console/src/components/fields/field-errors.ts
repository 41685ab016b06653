import { PenstockError } from '@penstock/client'

/**
 * Errors of a refusal for each field of a form, by the fields' names.
 * @param prefix where the values are in the request: `body.secretConfig`, `body.srcConnectionConfig`
 * @returns nothing for errors of another kind
 */
export function errorsOf(error: unknown, prefix: string): Readonly<Record<string, string>> {
  if (!(error instanceof PenstockError)) return {}
  const start = `${prefix}.`
  return Object.fromEntries(
    error.details
      .filter(({ field }) => field.startsWith(start))
      .map(({ field, message }) => [field.slice(start.length), message]),
  )
}

/** Whether a refusal is about the fields of a form and nothing else, so that saying it at the fields says it all. */
export function isOfFields(error: unknown, ...prefixes: readonly string[]): boolean {
  return (
    error instanceof PenstockError &&
    error.details.length > 0 &&
    error.details.every(({ field }) => prefixes.some((prefix) => field.startsWith(`${prefix}.`)))
  )
}
