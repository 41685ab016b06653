import { type EventColumns, flag, object, plain } from '../kit/columns.ts'
import { isObject, type JsonObject, objectIn } from '../platform-api/json.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'

/** The path of attributes, by the names of their sets. */
const sets = '@sets'

/** The columns of a contact. */
export const contactColumns: EventColumns = {
  contact_key: plain('contactKey', 'Key of the contact in Marketing Cloud', {
    identifies: true,
    required: true,
    normalise: 'text',
    lengthMax: 254,
    missing: 'The contact key is missing.',
    synonyms: ['subscriber_key', 'contactkey', 'customer_id', 'user_id'],
  }),
  email: plain(`${sets}.Email Addresses.Email Address`, 'E-mail address of the contact', { normalise: 'email' }),
  html_enabled: flag(`${sets}.Email Addresses.HTML Enabled`, 'Whether the contact receives e-mails as HTML', {
    synonyms: ['html'],
  }),
  mobile_number: plain(`${sets}.MobileConnect Demographics.Mobile Number`, 'Mobile number of the contact', {
    normalise: 'text',
    synonyms: ['mobile', 'phone'],
  }),
  attributes: object(
    sets,
    'JSON object with attribute sets and their attributes: {"Email Demographics": {"First Name": "Jane"}}; a set can be a list of such objects',
    { synonyms: ['attribute_sets'] },
  ),
}

/** Creates the attribute sets of a contact in the form that Marketing Cloud accepts. */
export function finishContact(contact: JsonObject): Read<JsonObject> {
  const attributeSets: JsonObject[] = []
  for (const [name, given] of Object.entries(objectIn(contact[sets]))) {
    const items = [given].flat()
    const isValid = items.length > 0 && items.every((item) => isObject(item) && Object.values(item).every(isScalar))
    if (!isValid) {
      return wrong('Each attribute set must be an object with texts, numbers, true or false.', 'attributes')
    }
    attributeSets.push({
      name,
      items: items.map((item) => ({
        values: Object.entries(objectIn(item)).map(([attribute, value]) => ({ name: attribute, value })),
      })),
    })
  }
  return { read: { contactKey: contact.contactKey, ...(attributeSets.length > 0 && { attributeSets }) } }
}

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value)
