import { ConnectorError } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { describe, fieldNamed, namePattern, type ObjectDescription, type ObjectField } from './objects.ts'

/** Salesforce follows at most this number of relationships. */
const stepsMax = 5
/** Objects that are described for one query. */
const objectsMax = 20

/** The reference of an object with a relationship of this name, in any letter case: the field `AccountId` for `Account`. */
export const referenceNamed = ({ fields }: ObjectDescription, name: string): ObjectField | undefined =>
  fields.find(({ relationship }) => relationship?.toLowerCase() === name.toLowerCase())

/**
 * Fields of related objects, by their paths in lower case: `account.owner.name`. The name of each is its path. A relationship
 * that can lead to several objects is not followed: Salesforce decides whether they have the field.
 * @param names names of fields, of which only names with a dot are looked up
 * @param isStrict whether a path that does not exist is an error; otherwise it is absent. Throws `invalid_setting`.
 */
export async function relatedFields(
  client: PlatformClient,
  object: ObjectDescription,
  names: readonly string[],
  isStrict: boolean,
): Promise<ReadonlyMap<string, ObjectField>> {
  const known = new Map([[object.name, object]])
  const found = new Map<string, ObjectField>()
  for (const path of names.filter((name) => name.includes('.'))) {
    const field = await fieldAt(path)
    if (field) found.set(path.toLowerCase(), field)
    else if (isStrict) {
      const shown = path.split('.').every((part) => namePattern.test(part)) ? path : 'of this name'
      const message = `${object.name} has no field ${shown} behind its relationships. Check “Fields”, such as Account.Name.`
      throw new ConnectorError('invalid_setting', message)
    }
  }
  return found

  async function fieldAt(path: string): Promise<ObjectField | undefined> {
    const steps = path.split('.')
    const last = steps.pop() ?? ''
    if (steps.length > stepsMax || !namePattern.test(last)) return undefined
    let at = object
    const walked: string[] = []
    for (const step of steps) {
      const reference = referenceNamed(at, step)
      if (!reference) return undefined
      walked.push(reference.relationship ?? step)
      const [target, ...others] = reference.refersTo
      if (target === undefined || others.length > 0) {
        return { ...reference, name: [...walked, ...steps.slice(walked.length), last].join('.'), type: 'string' }
      }
      at = await described(target)
    }
    const field = fieldNamed(at, last)
    return field && { ...field, name: [...walked, field.name].join('.') }
  }

  async function described(name: string): Promise<ObjectDescription> {
    const before = known.get(name)
    if (before) return before
    if (known.size === objectsMax) {
      throw new ConnectorError('invalid_setting', `Fields of at most ${objectsMax} objects can be read together.`)
    }
    const now = await describe(client, name)
    known.set(name, now)
    return now
  }
}
