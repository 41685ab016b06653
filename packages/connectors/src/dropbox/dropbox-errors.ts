import { ConnectorError, type ConnectorErrorCode, retryAfterMs } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { numberIn, objectIn, textIn } from '../platform-api/json.ts'

/**
 * The reason that Dropbox returns for a refusal: tags with slashes between them, such as `path/not_found`. Empty if it returns
 * none.
 */
export const summaryOf = ({ json }: Pick<Answer, 'json'>): string =>
  /^[a-z_]+(\/[a-z_]+)*/.exec(textIn(objectIn(json).error_summary) ?? '')?.[0].slice(0, 100) ?? ''

/** Reasons of a refusal, in the order in which they are looked for. */
const meanings: readonly (readonly [tag: RegExp, code: ConnectorErrorCode, message: string])[] = [
  [/\/(not_found|not_file|not_folder)\b/, 'source_changed', 'Dropbox has no file or folder of this path.'],
  [/too_many_(requests|write_operations)/, 'rate_limited', 'Dropbox limits the rate of requests.'],
  [/insufficient_space/, 'disk_full', 'The Dropbox has no space left. Free some space or get more.'],
  [/content_hash_mismatch/, 'connection_lost', 'A part of the file arrived damaged at Dropbox.'],
  [/malformed_path|disallowed_name/, 'invalid_address', 'Dropbox does not allow this path or name. Correct it.'],
  [/\/conflict\b/, 'invalid_address', 'A folder or file is in the place of this path. Choose another path.'],
  [
    /no_write_permission|no_permission|access_denied|restricted_content|team_folder|locked|operation_suppressed/,
    'permission_denied',
    'Dropbox does not allow this in the folder. Check the permissions of the app and of its user.',
  ],
  [/^reset$/, 'conflict', 'Dropbox began its listing again.'],
  [/too_large/, 'file_too_large', 'The file is larger than Dropbox allows.'],
]

/** The error of a Dropbox response that is not a success. `undefined` leaves the decision to the status. */
export function errorOf(answer: Answer): ConnectorError | undefined {
  const { status, json } = answer
  const error = objectIn(objectIn(json).error)
  const tag = textIn(error['.tag']) ?? ''
  if (status === 401) {
    if (tag === 'missing_scope') {
      const scope = textIn(error.required_scope) ?? ''
      const named = /^[a-z_.]{1,60}$/.test(scope) ? ` ${scope}` : ''
      return new ConnectorError(
        'permission_denied',
        `The app lacks the permission${named}. Enable it in the App Console of Dropbox, then authorize the connector again.`,
      )
    }
    if (tag === 'user_suspended') {
      return new ConnectorError('account_restricted', 'Dropbox has suspended the account. Ask its support.')
    }
    return undefined
  }
  if (status === 429) {
    const seconds = numberIn(error.retry_after)
    const afterMs = retryAfterMs(answer) ?? (seconds === undefined ? undefined : seconds * 1000)
    return new ConnectorError('rate_limited', 'Dropbox limits the rate of requests (status 429).', { afterMs })
  }
  if (status === 422) {
    return new ConnectorError('permission_denied', 'The user of Dropbox has no access to the space of the team.')
  }
  if (status === 409) {
    const summary = summaryOf(answer)
    const [, code, message] = meanings.find(([reason]) => reason.test(summary)) ?? []
    const known = summary === '' ? '' : ` (${summary})`
    const refused = `Dropbox refused a request${known}.`
    if (code) return new ConnectorError(code, `${refused} ${message}`, { afterMs: retryAfterMs(answer) })
    return new ConnectorError('request_refused', refused)
  }
  if (status === 400) return new ConnectorError('request_refused', 'Dropbox refused a request (status 400).')
  return undefined
}
