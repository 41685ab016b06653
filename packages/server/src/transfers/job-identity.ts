import { recordNow, serviceActor } from '../audit/record.ts'
import { createViews } from '../audit/views.ts'
import type { Database } from '../db/database.ts'
import type { IdentityTokens } from '../identity-tokens/identity-tokens.ts'
import { findSubject } from '../identity-tokens/queries.ts'
import { membersOf } from './runner-messages.ts'
import type { ConfiguredSide } from './sides.ts'

/** Audiences of one job: each side has one. */
const audiencesMax = 8
/** How long a job gets the same token again. It is then valid for long enough to sign in. */
const keptMs = 120_000

/**
 * Signs identity tokens for the runner of one job. Its calls are not trusted: the sub-account of a token is always that of the
 * job, and only connectors that sign in by tokens get one.
 */
export class JobIdentity {
  readonly #deps: { readonly database: Database; readonly identityTokens?: IdentityTokens }
  readonly #sides: readonly ConfiguredSide[]
  readonly #issued = new Map<string, { readonly token: Promise<string>; readonly untilMs: number }>()

  constructor(
    deps: { readonly database: Database; readonly identityTokens?: IdentityTokens },
    sides: readonly ConfiguredSide[],
  ) {
    this.#deps = deps
    this.#sides = sides
  }

  /** Throws if a runner asks for what no connector of the job can ask for, and if the database is away. */
  answer(argument: unknown): Promise<string> {
    const { slug, configurationId, audience } = membersOf(argument)
    const side = this.#sides.find((one) => one.connector.slug === slug && one.configurationId === configurationId)
    const signsIn = side && Object.values(side.connector.secrets).some(({ identity }) => identity !== undefined)
    const { identityTokens } = this.#deps
    const isValid = typeof audience === 'string' && /^[\x21-\x7e]{1,500}$/.test(audience)
    if (!signsIn || !identityTokens || !isValid) return Promise.reject(notAllowed())
    const known = this.#issued.get(audience)
    if (known && performance.now() < known.untilMs) return known.token
    if (!known && this.#issued.size >= audiencesMax) return Promise.reject(notAllowed())
    const token = this.#issue(identityTokens, side, audience)
    this.#issued.set(audience, { token, untilMs: performance.now() + keptMs })
    token.catch(() => this.#issued.delete(audience))
    return token
  }

  /** A token is not used before its event is written. */
  async #issue(
    identityTokens: IdentityTokens,
    { accountId, configurationId }: ConfiguredSide,
    audience: string,
  ): Promise<string> {
    const { database } = this.#deps
    const subject = await findSubject.first(database, { accountId })
    if (!subject) throw new Error('The sub-account of a job is gone')
    const entry = {
      ...subject,
      actor: serviceActor,
      action: 'issueIdentityToken',
      targetId: configurationId,
      details: { audience },
    }
    await views.once(JSON.stringify([accountId, configurationId, audience]), () => recordNow(database, [entry]))
    return identityTokens.issue(subject, audience)
  }
}

/** Tokens for the same sign-in have one event within an hour. */
const views = createViews()

const notAllowed = (): Error => new Error('A runner asked for an identity token that its job cannot have')
