import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { operation } from '../operation.ts'
import { exactText, optionalTime, page } from '../parameters.ts'
import { AuditEvent, AuditVerification } from '../schemas.ts'
import { Type } from '../type.ts'

/** The audit log. */
export const audit = {
  listAudit: operation({
    tag: 'Audit',
    summary: 'List the audit log',
    description:
      'Lists the events of the organization, newest first: every change, sign-in and refusal, and who read records. With `accountId`, only events of that sub-account. With `Accept: application/x-ndjson`, all matching events are streamed.',
    actsIn: 'organization or account',
    scope: 'audit:read',
    query: {
      q: Type.Optional(
        Type.String({
          maxLength: limits.filterLengthMax,
          description:
            'Keeps events with this text, in any letter case: in the name of who did it, the action in words, the name of the resource, the values, the details or the address. It needs three letters or digits in a row',
          examples: ['warehouse'],
        }),
      ),
      actorId: exactText('Keeps what this client, session or person did', example.clientId),
      action: exactText('Keeps this action, such as an operation of this API', 'editAccount'),
      targetId: exactText('Keeps what was done to this resource', example.accountId),
      from: optionalTime('Keeps events at this time or later'),
      to: optionalTime('Keeps events at this time or earlier'),
      ...page,
    },
    reply: AuditEvent,
    list: 'paged',
    streams: ['application/x-ndjson'],
    done: 'Audit log listed',
  }),
  verifyAudit: operation({
    tag: 'Audit',
    summary: 'Verify the audit log',
    description: `Verifies up to ${limits.auditVerifiedMax} events, oldest first: checks that each event is unchanged, and that no event is missing. Repeat the call with \`after\` until \`next\` is null.`,
    actsIn: 'organization',
    scope: 'audit:read',
    query: {
      after: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: limits.offsetMax,
          description: '`next` of the previous response; omitted: from the oldest event on',
          examples: [5_000],
        }),
      ),
    },
    reply: AuditVerification,
    done: 'Audit log verified',
  }),
} as const
