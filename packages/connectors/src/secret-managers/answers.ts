import { readFile } from 'node:fs/promises'
import { asConnectorError, ConnectorError, type Egress } from '@penstock/connector'
import { type Answer, type Call, call } from '../platform-api/call.ts'
import type { TokenContext } from '../platform-api/oauth.ts'

/** Common to all secret managers: bounded requests, and errors that contain no part of an answer. */

/** A manager that takes longer is treated as unavailable. */
const timeoutMs = 10_000
/** Managers store at most 64 KiB, or 1 MiB in Vault, which is more than a secret of a connector can have. */
const bytesMax = 256 << 10

/** A context for tokens, outside of a job. */
export const managerContext = (egress: Egress): TokenContext => ({
  egress,
  signal: new AbortController().signal,
  secrets: {},
  saveSecret: () => Promise.reject(new Error('A secret manager has no secret to replace')),
})

/** Sends a request. Throws `secret_manager_unavailable` if there is no answer. */
export async function ask(context: TokenContext, manager: string, asked: Call): Promise<Answer> {
  try {
    return await call(context, { ...asked, timeoutMs, bytesMax })
  } catch (error) {
    const known = asConnectorError(error)
    if (!known) throw error
    // The message of the egress names the host and the reason.
    throw unavailable(manager, known.message, { cause: error })
  }
}

/** Signs in. Every failure is one of the operator, whom no tenant can help: `secret_manager_unavailable`. */
export async function signedIn<T>(manager: string, signIn: () => Promise<T>): Promise<T> {
  try {
    return await signIn()
  } catch (error) {
    const known = asConnectorError(error)
    if (!known || known.code === 'secret_manager_unavailable') throw error
    throw unavailable(manager, `This service could not sign in. ${known.message}`, { cause: error })
  }
}

/** The content of a file of the operator, without white space around it. */
export async function contentOf(manager: string, file: string): Promise<string> {
  try {
    const content = (await readFile(file, 'utf8')).trim()
    if (content !== '') return content
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw unavailable(manager, `A file for its sign-in cannot be read (${code}).`)
  }
  throw unavailable(manager, 'A file for its sign-in is empty.')
}

export const unavailable = (manager: string, why: string, options: ErrorOptions & { afterMs?: number } = {}) =>
  new ConnectorError('secret_manager_unavailable', `${manager} cannot be used at the moment. ${why}`, options)

export const notFound = (message: string) => new ConnectorError('secret_not_found', message)

export const notAllowed = (manager: string, path: string) =>
  new ConnectorError(
    'secret_not_allowed',
    `${manager} does not let this service read ${path}. Ask your operator to allow it in ${manager}.`,
  )

/** An answer that none of the rules of a manager explains. */
export const unexpected = (manager: string, { status }: Pick<Answer, 'status'>) =>
  unavailable(manager, `It answered with status ${status}.`)
