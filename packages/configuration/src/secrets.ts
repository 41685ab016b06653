import { isSecretReference } from '@penstock/wire'
import type { Position, Problem } from './problems.ts'
import { hasReference, type Resolver, withoutReferences } from './references.ts'
import type { Planning } from './resource-kind.ts'
import { describeAll, type FieldChange } from './values.ts'

/** The text of a secret in a file that keeps the saved secret. The service shows secrets in this way. */
const mask = '********'

/** Secrets in a request: texts with references, or null to clear a secret. */
export type Secrets = Readonly<Record<string, string | null>>

/**
 * Plans secrets, which cannot be read. They are sent if they are not set yet, and together with every other change. References
 * to a secret manager can be read, so they are also sent if another one is saved.
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
    /** The saved references to secret managers; absent if these secrets cannot be references. */
    references?: Readonly<Record<string, string>>
  },
  { options, problems, missing, resolver }: Planning,
) {
  const { references } = of
  const refers = (text: string) => references !== undefined && isSecretReference(text)
  /** A reference as a file has it. */
  const referenceOf = (key: string) => {
    const saved = references?.[key]
    return saved === undefined ? undefined : withoutReferences(saved)
  }
  const isMoved = (key: string, text: string) => referenceOf(key) !== (refers(text) ? text.trim() : undefined)
  const sent = new Map<string, string>()
  const cleared: string[] = []
  for (const [key, text] of Object.entries(written)) {
    if (text === undefined) continue
    const isCleared = text === null || text === ''
    const isFine = isCleared || text === mask || hasReference(text) || refers(text)
    const message = of.wrong?.(key) ?? (isFine ? undefined : of.plain(key))
    if (message !== undefined) problems.push({ message, at: of.at(key) })
    else if (isCleared && of.isSet(key)) cleared.push(key)
    else if (!isCleared && text !== mask && !of.isLeft?.(key)) sent.set(key, text)
  }
  return {
    sent,
    isChange:
      cleared.length > 0 || [...sent].some(([key, text]) => options.setSecrets || !of.isSet(key) || isMoved(key, text)),
    /** The fields, with this prefix in their names, and the values to send. Collects the references that cannot be resolved. */
    changes: async (prefix: string): Promise<{ fields: FieldChange[]; secrets: Secrets }> => {
      for (const [key, text] of sent) await resolver.resolve(text, of.at(key), missing)
      return {
        fields: [
          ...[...sent].flatMap(([key, text]): FieldChange[] => {
            const field = `${prefix}${key}`
            const from = referenceOf(key) ?? (of.isSet(key) ? 'set' : undefined)
            const to = refers(text) ? text.trim() : 'set'
            if (from === to && refers(text)) return []
            return [{ field, ...(from === undefined ? {} : { from }), to, ...(refers(text) ? {} : { secret: true }) }]
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
