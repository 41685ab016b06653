import { column, defineConnector } from '@penstock/connector'
import { snapchatAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Conversions on websites, in apps and offline, for Snapchat. */
export const snapchatConversions = defineConnector({
  slug: 'snapchat-conversions',
  name: 'Snapchat Conversions',
  platform: snapchatAds,
  dataType: 'Conversions',
  dataTypeCategory: 'events',
  description: 'Reports conversions to Snapchat, whether they happened on a website, in an app or offline.',
  actions: ['add'],
  notes: 'Hash identifiers with SHA-256 before they are sent.',
  secrets: signIn,
  destination: {
    records: {
      event_name: column({ description: 'Name of the event', required: true }),
      event_time: column({ description: 'When it happened, in seconds since 1970', required: true }),
      action_source: column({
        description: 'Kind of place in which it happened, for example WEB or MOBILE_APP',
        required: true,
      }),
      user_data: column({
        description:
          'Object that identifies the person: by em, by ph, by madid, or by client_ip_address and client_user_agent together',
        required: true,
      }),
      conversion_value: column({ description: 'What the conversion was worth, in the currency', required: true }),
      currency: column({ description: 'Currency of the value, as an ISO 4217 code', required: true }),
    },
  },
})
