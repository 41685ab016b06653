import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { type Static, Type } from '../type.ts'
import { exactly, flag, identifier, Name, secret, text, unixSeconds } from './kinds.ts'

/** Addresses that start transfers of a connection. Not in the specification. */

const triggerFields = {
  id: identifier('the trigger', example.triggerId),
  connectionId: identifier('the connection', example.connectionId),
  name: text('Its name', 'dbt job: marts'),
  signed: flag('Whether requests must be signed by dbt Cloud'),
  createdTime: unixSeconds('When it was created', example.createdTime),
  lastUsedTime: Type.Union([unixSeconds('When it was last used', example.updatedTime), Type.Null()]),
}

/** A trigger, without its address. */
export const StartTrigger = exactly(triggerFields, { description: 'Trigger: an address that starts transfers' })
export type StartTrigger = Static<typeof StartTrigger>

/** Request of Create Trigger. */
export const CreateTrigger = exactly(
  {
    name: Name,
    dbtCloudSecret: Type.Optional(
      secret('Secret of the webhook of dbt Cloud, which signs its requests', 'dbtc_4Xv…', {
        minLength: 1,
        maxLength: limits.credentialLengthMax,
      }),
    ),
  },
  { description: 'Trigger to create' },
)

/** Response of Create Trigger. */
export const StartTriggerWithUrl = exactly(
  {
    ...triggerFields,
    url: secret(
      'Address that starts a transfer with POST. It is shown only now. Keep it like a password',
      'http://127.0.0.1:8080/trigger/6a1c94e0d27fb385/pst_…',
    ),
  },
  { description: 'New trigger with its address' },
)
