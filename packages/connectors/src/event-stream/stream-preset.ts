import { type Connector, column, defineConnector, secret } from '@penstock/connector'
import type { StreamPreset } from './preset-facts.ts'
import { nextSigningSecret, receivingFields, shapeField, startFields, verifyToken } from './shared-fields.ts'
import { type SignatureScheme, signatureSchemes } from './signature-schemes.ts'
import { storeFields, whyNotSource } from './store-fields.ts'

/** Makes a connector of the facts of a sender: an event stream that accepts only its signed messages, if it signs. */
export function streamPreset(preset: StreamPreset): Connector {
  const { sender, messageIdAt, unwrap, omitted, answers, named, callback, columns, ...definition } = preset
  // Senders are programs, which name no web origin.
  const { receive, addresses } = receivingFields
  return defineConnector({
    dataTypeCategory: 'events',
    ...definition,
    actions: ['read'],
    secrets: {
      ...(sender && signingSecrets(sender)),
      receive,
      addresses,
      ...storeFields,
    },
    readsEvents: true,
    putEvents: async (context) => (await import('../kafka/put-events.ts')).openStore(context),
    source: {
      whyNot: whyNotSource,
      fields: { ...startFields('events', 'event'), shape: shapeField },
      records: Object.fromEntries(
        Object.entries(columns).map(([name, { description, type }]) => [name, column({ description, type })]),
      ),
      open: async (context) => (await import('./read.ts')).open(context, columns),
      backfill: { by: 'times' },
      discover: {
        columns: async (context) => (await import('./discover.ts')).discoverColumns(context, columns),
      },
    },
    check: async (context) => (await import('./discover.ts')).check(context),
  })
}

function signingSecrets(sender: SignatureScheme) {
  const { secret: label } = signatureSchemes[sender]
  return {
    signingSecret: secret({
      keepsState: 'transport',
      label,
      description: `The ${label.toLowerCase()} by which every message is checked`,
      required: true,
    }),
    nextSigningSecret: secret(nextSigningSecret),
    ...(sender === 'meta' && { verifyToken: secret(verifyToken) }),
  }
}
