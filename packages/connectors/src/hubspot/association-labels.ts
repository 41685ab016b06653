import { ConnectorError } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { paths } from './api.ts'

/** A type of association as HubSpot's API names it: one of HubSpot's own, such as the primary company, or one of the account. */
export type AssociationType = { readonly associationCategory: string; readonly associationTypeId: number }

/** A label that associations of two object types can have, such as “Decision maker”. */
export type AssociationLabel = { readonly label: string; readonly type: AssociationType }

/**
 * The labels that associations from records of one type to records of another can have, in HubSpot's order. Types without a
 * label, which are the unlabelled associations, are skipped. Throws connector errors, such as `permission_denied`.
 */
export async function readLabels(client: PlatformClient, from: string, to: string): Promise<AssociationLabel[]> {
  const { json } = await client.askObject({ path: paths.associationLabels(from, to) })
  return listIn(json.results).flatMap((value): AssociationLabel[] => {
    const { category, typeId, label } = objectIn(value)
    const [associationCategory, associationTypeId, named] = [textIn(category), numberIn(typeId), textIn(label)?.trim()]
    if (!named || named.length > 200 || associationTypeId === undefined) return []
    if (!associationCategory || !/^[A-Z_]{1,40}$/.test(associationCategory)) return []
    return [{ label: named, type: { associationCategory, associationTypeId } }]
  })
}

const same = (a: string, b: string): boolean => a.localeCompare(b, 'en', { sensitivity: 'accent' }) === 0
const labelsShownMax = 10

/**
 * The types of the labels with these names. Letter case does not matter, unless two labels differ only by it. Throws
 * `invalid_setting`, with the existing labels, if one does not exist, or if several have the same name.
 * @param from the object type of the rows
 * @param to the object type of the associated records
 */
export async function typesOfLabels(
  client: PlatformClient,
  from: string,
  to: string,
  names: readonly string[],
): Promise<readonly AssociationType[]> {
  const labels = await readLabels(client, from, to)
  return names.map((name) => {
    const exact = labels.filter(({ label }) => label === name)
    const [found, ...others] = exact.length > 0 ? exact : labels.filter(({ label }) => same(label, name))
    if (found && others.length === 0) return found.type
    if (found) {
      const message = `Several labels of HubSpot for associations from ${from} to ${to} are named like one in “Association labels”. Rename one of them in HubSpot.`
      throw new ConnectorError('invalid_setting', message)
    }
    const shown = labels.slice(0, labelsShownMax).map(({ label }) => `“${label}”`)
    const more = labels.length > shown.length ? ` and ${labels.length - shown.length} more` : ''
    const there = shown.length === 0 ? 'It has none' : `It has ${shown.join(', ')}${more}`
    const message = `HubSpot has no label “${name}” for associations from ${from} to ${to}. ${there}. Choose one of these, make the label in HubSpot, or leave “Association labels” empty.`
    throw new ConnectorError('invalid_setting', message)
  })
}
