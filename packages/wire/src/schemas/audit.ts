import { example } from '../examples.ts'
import { auditActorKinds, auditOutcomes } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { exactly, oneOf, text, unixSeconds } from './kinds.ts'

/** The audit log. Not in the specification. */

const maybeText = (description: string, example: string) => Type.Union([text(description, example), Type.Null()])

export const AuditActor = exactly(
  {
    kind: oneOf(auditActorKinds, {
      description:
        'client: client credentials. session: a session token. user: a person. link: the page of a connect link, or a trigger. operator: the command line. schedule: the schedule of a connection, or a connection after which another one runs. service: the service itself',
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
      'The action: the identifier of an operation of this API, a command such as `client revoke`, or an action of the service, such as `connectionMoved`',
      'editAccount',
    ),
    accountId: maybeText('The sub-account of the resource', example.accountId),
    targetId: maybeText('The changed resource', example.accountId),
    targetName: maybeText('Name of the resource now, or in the values of the event if it was removed', 'Acme Outdoor'),
    outcome: oneOf(auditOutcomes, {
      description:
        'done: it was done. refused: the actor does not have the permission. failed: a sign-in with wrong credentials',
      examples: ['done'],
    }),
    before: values('Values before the action; for a change, only the changed values', { name: 'Acme Outdoor' }),
    after: values('Values after the action; for a change, only the changed values', { name: 'Acme Outdoors' }),
    details: values(
      'Further details, such as the missing scope of a refusal, the number of times, or the names of saved secrets',
      { missing: 'accounts:write' },
    ),
    previousHash: Type.Union([hash('Hash of the previous event'), Type.Null()], {
      description: 'Null for the first event',
    }),
    hash: hash('Hash of this event, which includes the hash of the previous event'),
  },
  { description: 'Event of the audit log' },
)
export type AuditEvent = Static<typeof AuditEvent>

/** A part of the audit log, verified. */
export const AuditVerification = exactly(
  {
    events: Type.Integer({ minimum: 0, description: 'Number of events that this call verified', examples: [1_204] }),
    number: Type.Integer({ minimum: 0, description: 'The last verified event', examples: [1_204] }),
    lastNumber: Type.Integer({ minimum: 0, description: 'The newest event of the log', examples: [1_204] }),
    removed: Type.Integer({
      minimum: 0,
      description: 'Number of the oldest events that the retention removed',
      examples: [0],
    }),
    sealed: Type.Boolean({
      description: 'Whether the end of the log has the seal of this service; it is sealed within a minute',
      examples: [true],
    }),
    problem: Type.Union(
      [
        exactly(
          {
            number: Type.Integer({ minimum: 0, description: 'Number of the event', examples: [17] }),
            message: text('The problem', 'Event 17 was changed: its content does not match its hash.'),
          },
          { description: 'The first event that is not as it was written' },
        ),
        Type.Null(),
      ],
      { description: 'The problem; null: every event of this part is unchanged, and no event is missing' },
    ),
    next: Type.Union([Type.Integer({ minimum: 1, examples: [5_000] }), Type.Null()], {
      description: '`after` of the next call; null: the log is verified to its end',
    }),
  },
  { description: 'Verified part of the audit log' },
)
export type AuditVerification = Static<typeof AuditVerification>
