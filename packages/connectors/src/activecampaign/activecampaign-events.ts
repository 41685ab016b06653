import { secret, text } from '@penstock/connector'
import { type Auth, restApi } from '../kit/api.ts'
import { eventId, plain } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import type { Answer } from '../platform-api/call.ts'
import { numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { activeCampaignPlatform } from './platform.ts'

const successOf = ({ json }: Answer): number | undefined => {
  const { success } = objectIn(json)
  return typeof success === 'boolean' ? Number(success) : numberIn(success)
}
/** The account and the key are part of the form, not of a header. */
const inForm: Auth = { open: async () => ({ renews: false, headers: async () => ({}) }) }

/** Events of contacts, which start automations of ActiveCampaign. A request has one of them. */
export const activecampaignEvents = eventDestination({
  slug: 'activecampaign-events',
  name: 'ActiveCampaign Events',
  platform: activeCampaignPlatform,
  dataType: 'events',
  status: 'preview',
  description: 'Reports events of contacts to ActiveCampaign, to start automations and to build segments.',
  notes:
    'Turn on event tracking in the settings of ActiveCampaign, where the account ID and the event key are shown. A new name of an event is added there. A contact that ActiveCampaign does not know is not created; deliver contacts first. ActiveCampaign takes one event with a request, dates it when it arrives, and does not recognise repeated ones: a batch that is interrupted may send up to ten events again. Send only events of people who have agreed to it.',
  tested:
    'Our own test server, which follows the published documentation of ActiveCampaign’s event tracking; not ActiveCampaign itself.',
  api: { version: 'event tracking', ends: 'No end is known.' },
  platformApi: restApi({
    name: 'ActiveCampaign',
    baseUrl: 'https://trackcmp.net',
    errors: {
      statuses: { 400: 'invalid_batch', 422: 'invalid_batch', 403: 'invalid_credentials' },
      // It answers with the status 200, and only the text says which error it is.
      special(answer) {
        if (successOf(answer) !== 0) return undefined
        const said = textIn(objectIn(answer.json).message) ?? ''
        return /\b(key|actid|account|enabled)\b/i.test(said)
          ? ['invalid_credentials', 'Check the account ID and the event key, and whether event tracking is turned on.']
          : 'invalid_batch'
      },
    },
  }),
  auth: inForm,
  secrets: {
    accountId: text({
      label: 'Account ID',
      description: 'Number of the account, shown in the settings of event tracking as actid',
      required: true,
    }),
    eventKey: secret({
      label: 'Event key',
      description: 'Key that is shown in the settings of event tracking',
      required: true,
    }),
  },
  settings: {},
  batch: { rowsMax: 10, bytesMax: 100_000 },
  // Each event is sent separately. Its ID is its target.
  targets: { at: '@id', field: 'email' },
  request: ([event = {}], { secrets }) => ({
    path: '/event',
    form: {
      actid: String(secrets.accountId ?? '').trim(),
      key: String(secrets.eventKey ?? ''),
      event: String(event.event),
      ...(event.eventdata !== undefined && { eventdata: String(event.eventdata) }),
      visit: JSON.stringify({ email: event.email }),
    },
  }),
  answer: {
    // The meaning of the errors decides.
    refuses: () => false,
    refusal: 'ActiveCampaign does not accept the event; check its name, and whether the contact exists',
    confirms: (answer) => successOf(answer) === 1,
  },
  // Only an event shows whether the key is right, and ActiveCampaign records it.
  probe: null,
  columns: {
    email: plain('email', 'E-mail address of the contact, not hashed', {
      identifies: true,
      required: true,
      normalise: 'email',
      missing: 'The e-mail address is missing.',
    }),
    event_name: plain('event', 'Name of the event', {
      required: true,
      lengthMax: 255,
      missing: 'The name of the event is missing.',
      synonyms: ['event'],
    }),
    event_data: plain('eventdata', 'Value of the event, such as the name of a product', {
      synonyms: ['eventdata', 'event_value', 'value'],
    }),
    // It is not sent, and distinguishes the events of a batch.
    event_id: eventId('@id', 'Your own ID of the event, which is not sent'),
  },
})
