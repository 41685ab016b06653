import { type ConnectionDetails, mayTransfer } from '@penstock/wire'
import { createContext, useContext, useEffect } from 'react'
import { useRead } from '../../api/queries.ts'
import { useAddress } from '../../components/address.ts'
import { useAccount } from '../../shell/account.ts'
import { type DraftStore, useDraft } from './draft.ts'
import { pendingTarget, readTargets, type Target, withConnection, writeTargets } from './set/targets.ts'

/** The steps, in their order. */
export const steps = ['source', 'destination', 'settings', 'mapping', 'review'] as const
export type WizardStep = (typeof steps)[number]

/** The steps of a new connection. The address has everything except what is typed and not saved. */
export type Wizard = DraftStore & {
  readonly accountId: string
  readonly step: WizardStep
  /** The connectors that were picked; empty while there is none. Once the connection is there, they are its own. */
  readonly sourceId: string
  readonly destinationId: string
  /** Empty until the connection is created. */
  readonly connectionId: string
  readonly connection: ConnectionDetails | undefined
  readonly etag: string | undefined
  /** Reading the connection that the address names. */
  readonly reading: ReturnType<typeof useRead<'getConnection'>>
  /** Whether a step can be gone to. The sides of a connection never change, so they are picked before it is there. */
  readonly isOpen: (step: WizardStep) => boolean
  readonly go: (step: WizardStep, picks?: Readonly<Record<string, string>>) => void
  /** The destinations that were picked together, if there are several. */
  readonly targets: readonly Target[]
  /** The destination of a set whose connection is next. */
  readonly target: Target | undefined
  /** The tag of the connections that are created together; empty without a set. */
  readonly set: string
  /** Leads on from the settings of a connection that was just created. */
  readonly goCreated: (connectionId: string) => void
  /** Whether a destination of the set has no connection yet. */
  readonly hasNext: boolean
  /** Leads on from the mapping: to the settings of the next destination, or to the review. */
  readonly goMapped: () => void
  /** Keys of the drafts of this connection, or of the new connection between these sides. */
  readonly keys: Readonly<
    Record<'name' | 'src' | 'dest' | 'srcConfiguration' | 'destConfiguration' | 'mapping' | 'filter' | 'types', string>
  >
}

const WizardContext = createContext<Wizard | undefined>(undefined)
export const WizardProvider = WizardContext.Provider

export function useWizard(): Wizard {
  const wizard = useContext(WizardContext)
  if (!wizard) throw new Error('useWizard is for the steps of the wizard')
  return wizard
}

/** Reads the address and the draft; for the screen, which gives it to its steps. */
export function useNewWizard(): Wizard {
  const { accountId } = useAccount()
  const { value, change } = useAddress()
  const store = useDraft(accountId)
  const connectionId = value('connection')
  const reading = useRead('getConnection', { accountId, id: connectionId }, { enabled: connectionId !== '' })
  const connection = connectionId === '' ? undefined : reading.data?.reply
  const sourceId = connection?.src.connectorId ?? value('source')
  const targets = readTargets(value('targets'))
  const set = value('set')
  const next = set === '' ? undefined : pendingTarget(targets)
  const pending = connectionId === '' ? next : undefined
  const destinationId = connection?.dest.connectorId ?? pending?.connectorId ?? value('destination')
  const isOpen = (step: WizardStep) => {
    if (connectionId !== '') return step !== 'source' && step !== 'destination'
    if (step === 'source') return true
    if (step === 'destination') return sourceId !== ''
    return step === 'settings' && sourceId !== '' && destinationId !== ''
  }
  const asked = steps.find((step) => step === value('step') && isOpen(step))
  const usual = connectionId !== '' ? 'mapping' : (['settings', 'destination'] as const).find(isOpen)
  const step = asked ?? usual ?? 'source'
  const scope = connectionId || 'new'
  const picks = { step, sourceId, destinationId, connectionId, set, targets: set && writeTargets(targets) }
  const at = sourceId === '' ? undefined : new URLSearchParams(picksOf(picks))
  const { setAt } = store
  const storedAt = at?.toString()
  const isComplete = set === '' && step === 'review' && connection !== undefined && mayTransfer(connection.status)
  useEffect(() => {
    if (storedAt !== undefined) setAt(isComplete ? undefined : storedAt)
  }, [storedAt, isComplete, setAt])
  const go = (to: WizardStep, picks: Readonly<Record<string, string>> = {}) =>
    change({ sources: '', destinations: '', step: to, ...picks })
  return {
    ...store,
    accountId,
    step,
    targets,
    target: pending,
    set,
    goCreated: (id) =>
      go('mapping', { connection: id, ...(set && { targets: writeTargets(withConnection(targets, id)) }) }),
    hasNext: next !== undefined,
    goMapped: () => {
      if (next) go('settings', { connection: '', source: sourceId, destination: next.connectorId })
      else go('review')
    },
    sourceId,
    destinationId,
    connectionId,
    connection,
    reading,
    isOpen,
    etag: reading.data?.etag,
    go,
    keys: {
      name: `name of ${scope}`,
      src: `source of ${connectionId || sourceId}`,
      dest: `destination of ${connectionId || destinationId}`,
      srcConfiguration: configurationKey('source', connectionId || sourceId),
      destConfiguration: configurationKey('destination', connectionId || destinationId),
      mapping: `mapping of ${scope}`,
      filter: `filter of ${scope}`,
      types: `types of ${scope}`,
    },
  }
}

/** The key of the draft that has the picked configuration. @param of a connection, or a connector of a new connection */
export const configurationKey = (side: 'source' | 'destination', of: string): string => `${side} configuration of ${of}`

/** The parameters of the address that lead to a step. */
const picksOf = (
  at: Readonly<Record<'sourceId' | 'destinationId' | 'connectionId' | 'set' | 'targets', string>> & {
    step: WizardStep
  },
) =>
  Object.fromEntries(
    Object.entries({
      source: at.sourceId,
      destination: at.destinationId,
      connection: at.connectionId,
      set: at.set,
      targets: at.targets,
      step: at.step,
    }).filter(([, value]) => value !== ''),
  )
