import type { Position, Problem } from './problems.ts'
import { hasReference, type Resolver } from './references.ts'
import type { Planning } from './resource-kind.ts'
import { describeAll, type FieldChange } from './values.ts'

/** The text of a secret in a file that keeps the saved secret. The service shows secrets in this way. */
const mask = '********'

/** Secrets in a request: texts with references, or null to clear a secret. */
export type Secrets = Readonly<Record<string, string | null>>

/**
 * Plans secrets, which cannot be read. They are sent if they are not set yet, and together with every other change.
 * @returns `sent`: the secrets that are sent if anything changes; `isChange`: whether one of them is itself a change; `changes`:
 * called as soon as something changes
 */
export function planSecrets(
  written: Readonly<Record<string, string | null | undefined>>,
  of: {
    isSet(key: string): boolean
    at(key: string): Position
    /** The error of the key itself. */
    wrong?(key: string): string | undefined
    /** The error of a secret that is in the file in plain text. */
    plain(key: string): string
    /** Whether a secret does not change although the file contains it. */
    isLeft?(key: string): boolean
  },
  { options, problems, missing, resolver }: Planning,
) {
  const sent = new Map<string, string>()
  const cleared: string[] = []
  for (const [key, text] of Object.entries(written)) {
    if (text === undefined) continue
    const isCleared = text === null || text === ''
    const message = of.wrong?.(key) ?? (isCleared || text === mask || hasReference(text) ? undefined : of.plain(key))
    if (message !== undefined) problems.push({ message, at: of.at(key) })
    else if (isCleared && of.isSet(key)) cleared.push(key)
    else if (!isCleared && text !== mask && !of.isLeft?.(key)) sent.set(key, text)
  }
  return {
    sent,
    isChange: cleared.length > 0 || [...sent.keys()].some((key) => options.setSecrets || !of.isSet(key)),
    /** The fields, with this prefix in their names, and the values to send. Collects the references that cannot be resolved. */
    changes: async (prefix: string): Promise<{ fields: FieldChange[]; secrets: Secrets }> => {
      for (const [key, text] of sent) await resolver.resolve(text, of.at(key), missing)
      return {
        fields: [
          ...[...sent.keys()].map((key): FieldChange => {
            const field = `${prefix}${key}`
            return { field, ...(of.isSet(key) ? { from: 'set' } : {}), to: 'set', secret: true }
          }),
          ...cleared.map((key): FieldChange => ({ field: `${prefix}${key}`, from: 'set', secret: true })),
        ],
        secrets: { ...Object.fromEntries(sent), ...Object.fromEntries(cleared.map((key) => [key, null])) },
      }
    },
  }
}

/** The secrets to send. They are resolved right before, so that nothing keeps them. */
export async function resolveSecrets(secrets: Secrets, at: Position | undefined, resolver: Resolver): Promise<Secrets> {
  const problems: Problem[] = []
  const resolved: Record<string, string | null> = {}
  for (const [key, text] of Object.entries(secrets)) {
    const value = text === null ? null : await resolver.resolve(text, at as Position, problems)
    if (value !== undefined) resolved[key] = value
  }
  if (problems.length > 0) throw describeAll(problems)
  return resolved
}
