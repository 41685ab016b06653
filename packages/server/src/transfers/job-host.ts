import {
  type EventHost,
  type HostMethod,
  type IdentityHost,
  isEventMethod,
  isIdentityMethod,
  isRejectMethod,
  isSecretMethod,
  isUploadMethod,
  type PutHost,
  type RejectHost,
  type SecretHost,
  type UploadHost,
} from '@penstock/engine'
import type { Database } from '../db/database.ts'
import type { IdentityTokens } from '../identity-tokens/identity-tokens.ts'
import { EndJob } from '../runners/runner-process.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { type EventsRead, JobEvents } from './job-events.ts'
import { JobIdentity } from './job-identity.ts'
import { JobRejects, type RejectsRead } from './job-rejects.ts'
import { JobSecrets } from './job-secrets.ts'
import { JobUploads } from './job-uploads.ts'
import type { ConfiguredSide } from './sides.ts'

type JobMethod = keyof SecretHost | keyof IdentityHost | keyof UploadHost | keyof RejectHost | keyof EventHost

/** Whether a transfer can ask for it. */
export const isTransferMethod = (method: HostMethod): method is Exclude<HostMethod, keyof PutHost> =>
  method !== 'nextEvents'

/** Whether any job can ask for it; a transfer asks for more. */
export const isJobMethod = (method: HostMethod): method is JobMethod =>
  [isSecretMethod, isIdentityMethod, isUploadMethod, isRejectMethod, isEventMethod].some((isOne) => isOne(method))

/** Dependencies of answers to runners. */
type JobHostDeps = { readonly database: Database; readonly keyring: Keyring; readonly identityTokens?: IdentityTokens }

/**
 * Answers what the runner of any job asks: about the secrets and the identity of its connectors, uploaded files, rejected
 * records, and events.
 */
export class JobHost {
  readonly #secrets: JobSecrets
  readonly #identity: JobIdentity
  readonly #uploads: JobUploads
  readonly #rejects: JobRejects
  readonly #events: JobEvents

  /** @param sides the configurations of the job's connectors; none, and the job has neither secrets nor files nor records */
  constructor(deps: JobHostDeps, sides: readonly ConfiguredSide[] = []) {
    this.#secrets = new JobSecrets(deps, sides)
    this.#identity = new JobIdentity(deps, sides)
    this.#uploads = new JobUploads(deps, sides)
    this.#rejects = new JobRejects(deps, sides)
    this.#events = new JobEvents(deps, sides)
  }

  /** Throws as {@link JobSecrets}, {@link JobIdentity}, {@link JobUploads}, {@link JobRejects} and {@link JobEvents} do. */
  answer(method: JobMethod, argument: unknown): Promise<unknown> {
    if (isIdentityMethod(method)) return this.#identity.answer(argument)
    if (isUploadMethod(method)) return this.#uploads.answer(method, argument)
    if (isEventMethod(method)) return this.#events.answer(method, argument)
    if (isRejectMethod(method)) return this.#rejects.answer(method, argument)
    return this.#secrets.answer(method as keyof SecretHost, argument)
  }

  /** Up to where the job read rejected records, once it has read all. */
  get rejectsRead(): RejectsRead | undefined {
    return this.#rejects.read
  }

  /** Up to where the events that the job read are confirmed. */
  get eventsRead(): EventsRead | undefined {
    return this.#events.read
  }

  /** Notes the cursor of a batch that is confirmed. */
  confirmed(cursor: unknown): void {
    this.#events.confirmed(cursor)
  }

  /** Gives back what the job still holds, however it ended. */
  close(): Promise<void> {
    return this.#secrets.close()
  }
}

/**
 * Answers a job that is no transfer.
 * @param onError called with errors of the service itself
 */
export const answerJob =
  (host: Pick<JobHost, 'answer'>, onError: (error: unknown) => void = () => {}) =>
  async (method: HostMethod, argument: unknown): Promise<unknown> => {
    if (!isJobMethod(method)) throw new EndJob(false, 0)
    try {
      return await host.answer(method, argument)
    } catch (error) {
      onError(error)
      throw error
    }
  }
