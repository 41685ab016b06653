import type { Egress } from '@penstock/connector'
import { type ServiceAccount, serviceAccount } from '../google/service-account.ts'
import { type Answer, isSuccess } from '../platform-api/call.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { ask, contentOf, managerContext, notAllowed, notFound, signedIn, unavailable, unexpected } from './answers.ts'
import type { GoogleAccess, OpenedManager } from './manager-access.ts'

/** Google Secret Manager: https://cloud.google.com/secret-manager/docs/reference/rest/v1/projects.secrets.versions/access */

const name = 'Google Secret Manager'
const scope = 'https://www.googleapis.com/auth/cloud-platform'

/** Opens the secrets that a service account may read. A path is the name of a secret, or of one of its versions. */
export function openGoogle({ auth }: GoogleAccess, egress: Egress): OpenedManager {
  const context = managerContext(egress)
  let opened: { readonly key: string; readonly account: ServiceAccount } | undefined
  const token = async (refused?: string): Promise<string> => {
    const key = await contentOf(name, auth.keyFile)
    if (opened?.key !== key) opened = { key, account: serviceAccount(context, key, scope) }
    return opened.account.token(refused)
  }
  return {
    async read(path) {
      const version = path.includes('/versions/') ? path : `${path}/versions/latest`
      const url = `https://secretmanager.googleapis.com/v1/${version}:access`
      const send = (bearer: string) => ask(context, name, { url, headers: { authorization: `Bearer ${bearer}` } })
      const first = await signedIn(name, () => token())
      let answer = await send(first)
      if (answer.status === 401) answer = await send(await signedIn(name, () => token(first)))
      return secretIn(answer, path)
    },
  }
}

function secretIn(answer: Answer, path: string): string {
  if (isSuccess(answer)) {
    const data = objectIn(objectIn(answer.json).payload).data
    if (typeof data === 'string') return Buffer.from(data, 'base64').toString('utf8')
    throw unavailable(name, 'Its answer contains no secret.')
  }
  switch (textIn(objectIn(objectIn(answer.json).error).status)) {
    case 'NOT_FOUND':
      throw notFound(`Google Secret Manager has no secret ${path}. Create it, or correct the reference.`)
    case 'FAILED_PRECONDITION':
      throw notFound(`The version of ${path} in Google Secret Manager is disabled or destroyed. Add a version.`)
    case 'INVALID_ARGUMENT':
      throw notFound(`Google Secret Manager does not accept ${path} as the name of a secret. Correct the reference.`)
    case 'PERMISSION_DENIED':
      throw notAllowed(name, path)
    default:
      throw unexpected(name, answer)
  }
}
