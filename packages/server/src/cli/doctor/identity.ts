import type { Config } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import { countKeyless } from '../../identity-tokens/queries.ts'
import { type Finding, problem, warning, well } from './check.ts'
import { ask, describeFailure, withoutSecrets } from './http.ts'

/** Whether clouds can verify identity tokens, if a configuration signs in by them: the issuer answers at its public address. */
export async function checkIdentity(database: Database, { publicUrl }: Pick<Config, 'publicUrl'>): Promise<Finding> {
  const configurations = (await countKeyless.first(database, {}))?.configurations ?? 0
  if (configurations === 0) return well('no configuration signs in without a key')
  const server = withoutSecrets(new URL(publicUrl))
  const used = `Configurations that sign in without a key: ${configurations}.`
  if (!publicUrl.startsWith('https:')) {
    return problem(
      `${used} Clouds trust only https addresses, and not ${server}. Set PENSTOCK_PUBLIC_URL to one that they reach.`,
    )
  }
  try {
    for (const [path, isRight] of [
      ['openid-configuration', ({ issuer }: Document) => issuer === publicUrl],
      ['jwks.json', ({ keys }: Document) => Array.isArray(keys) && keys.length > 0],
    ] as const) {
      const { status, text } = await ask(new URL(`${publicUrl}/.well-known/${path}`))
      if (status === 200 && isRight(read(text))) continue
      const found = status === 200 ? 'is not the document of this service' : `has the status ${status}`
      return problem(
        `${used} ${server}/.well-known/${path} ${found}. Let the reverse proxy pass it on without a sign-in, and set PENSTOCK_PUBLIC_URL to the same address in all processes.`,
      )
    }
    return well(`the issuer ${server} answers; configurations that sign in without a key: ${configurations}`)
  } catch (error) {
    return warning(
      `${used} ${describeFailure(error, server)} Clouds must reach it. Some networks do not let this machine reach its own public address.`,
    )
  }
}

type Document = { readonly issuer?: unknown; readonly keys?: unknown }

function read(text: string): Document {
  try {
    return (JSON.parse(text) as Document | null) ?? {}
  } catch {
    return {}
  }
}
