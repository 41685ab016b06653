import { ConnectorError, type Values } from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'

/** HubSpot's own identifier of a record: a property that is not among the unique ones. */
export const recordId = 'hs_object_id'

/** Names of the standard objects, with the identifiers of their types. */
export const standardObjects: Readonly<Record<string, string>> = {
  contacts: '0-1',
  companies: '0-2',
  deals: '0-3',
  tickets: '0-5',
}

/** The people of the account who own records: not an object type, but read like one. */
export const owners = 'owners'

/** The fields of an owner. */
export const ownerFields = [
  ...['email', 'firstName', 'lastName', 'userId', 'type', 'teams', 'createdAt', 'updatedAt'],
] as const

/** The property with the time of the last change. Contacts have a different name for it. */
export const modifiedProperty = (type: string): string =>
  isContacts(type) ? 'lastmodifieddate' : 'hs_lastmodifieddate'

export const isContacts = (type: string): boolean => type === 'contacts' || type === standardObjects.contacts

/** The object type of the settings, as part of a path. Throws `invalid_setting` if it cannot be one. */
export function objectTypeOf({ objectType }: Values): string {
  const type = textIn(objectType)?.trim() ?? ''
  if (/^[A-Za-z0-9][\w-]{0,119}$/.test(type)) return type
  throw new ConnectorError(
    'invalid_setting',
    'Object type must be contacts, companies, or the like, or an ID such as 2-123456.',
  )
}

const propertyForm = /^[a-z0-9_]{1,200}$/i

/** The name of a property in a setting. `undefined` if it is empty. Throws `invalid_setting` if it is not a valid name. */
export function propertyOf(setting: unknown): string | undefined {
  const name = textIn(setting)?.trim() ?? ''
  if (name === '') return undefined
  if (propertyForm.test(name)) return name
  throw new ConnectorError('invalid_setting', 'The name of a property has letters, digits and underscores.')
}

/** The property of the settings by which records are found. Throws `invalid_setting` if it cannot be one. */
export function idPropertyOf(settings: Values): string {
  const name = textIn(settings.idProperty)?.trim() ?? ''
  if (propertyForm.test(name)) return name
  if (name === '' && isContacts(objectTypeOf(settings))) return 'email'
  throw new ConnectorError(
    'invalid_setting',
    'Set “Identifying property” to the name of a unique property, such as email.',
  )
}

/** The address of a request cannot have more characters. */
const namesLengthMax = 12_000

/**
 * The properties of the settings to read, without duplicates. Throws `invalid_setting` if there are no properties, or too many.
 */
export function propertiesOf({ properties }: Values): readonly string[] {
  const names = (textIn(properties) ?? '').split(/[\s,;]+/).filter(Boolean)
  const chosen = [...new Set(names)].filter((name) => name !== recordId)
  if (chosen.length === 0) throw new ConnectorError('invalid_setting', 'Choose at least one property to read.')
  if (!chosen.every((name) => propertyForm.test(name))) {
    throw new ConnectorError(
      'invalid_setting',
      'Properties must be the internal names of properties, such as email, firstname.',
    )
  }
  if (chosen.join().length <= namesLengthMax) return chosen
  throw new ConnectorError(
    'invalid_setting',
    `The names of the properties have more than ${namesLengthMax} characters; choose fewer.`,
  )
}

/** The list of the settings, as part of a path. Throws `invalid_setting` if it is no ID. */
export function listIdOf({ listId }: Values): string {
  const id = textIn(listId)?.trim() ?? ''
  if (/^\d{1,15}$/.test(id)) return id
  throw new ConnectorError('invalid_setting', 'List ID must be the number of a static list (segment) in HubSpot.')
}
