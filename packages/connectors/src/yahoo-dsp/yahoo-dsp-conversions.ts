import { column, defineConnector, secret, select, text } from '@penstock/connector'
import { yahooDsp } from './platform.ts'

/** Conversions for a pixel of Yahoo. */
export const yahooDspConversions = defineConnector({
  slug: 'yahoo-dsp-conversions',
  name: 'Yahoo DSP Conversions',
  platform: yahooDsp,
  dataType: 'Conversions',
  dataTypeCategory: 'events',
  description: 'Reports conversions to a pixel of Yahoo, whether they happened on a website, in an app or offline.',
  actions: ['add', 'update', 'delete'],
  notes: 'Access to Yahoo is granted for 60 minutes at a time and renewed automatically.',
  secrets: {
    clientId: text({ label: 'Client ID', description: 'ID of the client that Yahoo gave you', required: true }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that Yahoo gave you with the client ID',
      required: true,
    }),
  },
  destination: {
    fields: {
      pixelId: text({ label: 'Pixel ID', description: 'ID of the pixel, which Yahoo calls yp', required: true }),
      mode: select({
        label: 'Mode',
        description: 'Whether conversions are sent several times a day (Streaming) or once (Batch)',
        options: ['Streaming', 'Batch'],
        required: true,
      }),
    },
    records: {
      eventTs: column({ description: 'When it happened, in seconds or milliseconds since 1970', required: true }),
      actionSource: column({
        description: 'Where the event happened',
        required: true,
        values: ['web', 'app', 'phone', 'email', 'online', 'physical_store'],
      }),
      userData: column({
        description:
          'Object that identifies the person by email, phone, gpsaid, idfa or pxid; the first two hashed with SHA-256',
        oneOf: 'identifier',
      }),
      'clickData.vmcid': column({
        description: 'Yahoo’s ID of the click, for a person without another identifier',
        oneOf: 'identifier',
      }),
      eventName: column({ description: 'Name of the event, used in the rules of the DSP' }),
      'eventData.price': column({
        description: 'Value of the conversion, in US dollars unless agreed otherwise',
      }),
      'eventData.products[].category': column({
        description: 'Category of each product, used by the category rule for event types',
      }),
      'privacy.optOut': column({ description: 'Whether the event is excluded from optimisation' }),
    },
  },
})
