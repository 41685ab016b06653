import { example } from '../examples.ts'
import { auditActorKinds, auditOutcomes } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { exactly, oneOf, text, unixSeconds } from './kinds.ts'

/** The audit log; ours. */

const maybeText = (description: string, example: string) => Type.Union([text(description, example), Type.Null()])

export const AuditActor = exactly(
  {
    kind: oneOf(auditActorKinds, {
      description:
        'client: client credentials. session: a session token. user: a person. link: the page of a connect link, or a trigger. operator: the command line. schedule: the schedule of a connection, or the connection that another one runs after. service: the service itself',
      examples: ['client'],
    }),
    id: maybeText('Identifier of the client, the session, the person or the connect link', example.clientId),
    name: maybeText('Its name at that time', 'Nightly jobs'),
  },
  { description: 'Who did it' },
)
export type AuditActor = Static<typeof AuditActor>

const values = (description: string, shown: Record<string, unknown>) =>
  Type.Union(
    [Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description }), Type.Null()],
    { examples: [shown] },
  )
const hash = (description: string) => text(`${description}, SHA-256 in hexadecimal`, '9f86d081884c7d65…')

/** An entry of the audit log. */
export const AuditEvent = exactly(
  {
    number: Type.Integer({
      minimum: 1,
      description: 'Number of the event in the organization, from 1 without a gap',
      examples: [1_204],
    }),
    time: unixSeconds('When it happened'),
    actor: AuditActor,
    address: maybeText('Network address of the caller', '203.0.113.7'),
    requestId: maybeText('Identifier of the request', example.requestId),
    action: text(
      'What was done: the identifier of an operation of this API, a command such as `client revoke`, or what the service did, such as `connectionMoved`',
      'editAccount',
    ),
    accountId: maybeText('The sub-account that it concerns', example.accountId),
    targetId: maybeText('What it was done to', example.accountId),
    outcome: oneOf(auditOutcomes, {
      description: 'done: it took effect. refused: the actor may not do it. failed: a sign-in with wrong credentials',
      examples: ['done'],
    }),
    before: values('What it was before: of a change, what changed', { name: 'Acme Outdoor' }),
    after: values('What it is since: of a change, what changed', { name: 'Acme Outdoors' }),
    details: values(
      'What else is known: the missing scope of a refusal, how many times it happened, the names of secrets that were saved',
      { missing: 'accounts:write' },
    ),
    previousHash: Type.Union([hash('Hash of the event before'), Type.Null()], {
      description: 'Null for the first event',
    }),
    hash: hash('Hash of this event, which contains the hash of the event before'),
  },
  { description: 'Event of the audit log' },
)
export type AuditEvent = Static<typeof AuditEvent>
