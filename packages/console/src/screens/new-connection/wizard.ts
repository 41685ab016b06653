import { type ConnectionDetails, mayTransfer } from '@penstock/wire'
import { createContext, useContext, useEffect } from 'react'
import { useRead } from '../../api/queries.ts'
import { useAddress } from '../../components/address.ts'
import { useAccount } from '../../shell/account.ts'
import { type DraftStore, useDraft } from './draft.ts'

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
  const destinationId = connection?.dest.connectorId ?? value('destination')
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
  const at = sourceId === '' ? undefined : new URLSearchParams(picksOf({ step, sourceId, destinationId, connectionId }))
  const { setAt } = store
  const storedAt = at?.toString()
  const isComplete = step === 'review' && connection !== undefined && mayTransfer(connection.status)
  useEffect(() => {
    if (storedAt !== undefined) setAt(isComplete ? undefined : storedAt)
  }, [storedAt, isComplete, setAt])
  return {
    ...store,
    accountId,
    step,
    sourceId,
    destinationId,
    connectionId,
    connection,
    reading,
    isOpen,
    etag: reading.data?.etag,
    go: (next, picks = {}) => change({ sources: '', destinations: '', step: next, ...picks }),
    keys: {
      name: `name of ${scope}`,
      src: `source of ${connectionId || sourceId}`,
      dest: `destination of ${connectionId || destinationId}`,
      srcConfiguration: `source configuration of ${connectionId || sourceId}`,
      destConfiguration: `destination configuration of ${connectionId || destinationId}`,
      mapping: `mapping of ${scope}`,
      filter: `filter of ${scope}`,
      types: `types of ${scope}`,
    },
  }
}

/** The parameters of the address that lead to a step. */
const picksOf = (at: { step: WizardStep; sourceId: string; destinationId: string; connectionId: string }) =>
  Object.fromEntries(
    Object.entries({
      source: at.sourceId,
      destination: at.destinationId,
      connection: at.connectionId,
      step: at.step,
    }).filter(([, value]) => value !== ''),
  )
