import { Select, TextInput } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { type CatalogueEntry, limits } from '@penstock/wire'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { CopyField } from '../../components/copy-field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { PickSeveral } from '../../components/pick-several.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { connectLinks as say } from '../../strings/connect-links.ts'
import { PickConfiguration } from '../connectors/pick-configuration.tsx'

/** Every connector of the catalogue; undefined while it is not known. The catalogue is the same for all sub-accounts. */
export function useCatalogue(accountId: string): readonly CatalogueEntry[] | undefined {
  return useRead('listConnectors', { accountId, query: { size: limits.pageSizeMax } }).data?.reply
}

/** Creates a connect link, and shows its address, which is shown once. */
export function CreateLink({ accountId, onClose }: { accountId: string; onClose: () => void }) {
  const catalogue = useCatalogue(accountId)
  const create = useWrite('createConnectLink')
  const [connectorIds, setConnectorIds] = useState<string[]>([])
  // By connector, as far as one was picked; the others have their first one.
  const [picked, setPicked] = useState<Readonly<Record<string, string>>>({})
  const [redirectUrl, setRedirectUrl] = useState('')
  const [expiry, setExpiry] = useState(String(limits.connectLinkSecondsDefault))
  const [url, setUrl] = useState<string>()
  const configurationIds = connectorIds.flatMap((id) => picked[id] ?? [])
  const nameOf = (id: string) => catalogue?.find(({ connectorId }) => connectorId === id)?.name ?? id
  const send = async () => {
    const redirect = redirectUrl.trim() && { redirectUrl: redirectUrl.trim() }
    const chosen = configurationIds.length > 0 && { configurationIds }
    const body = { accountId, connectorIds, ...chosen, expiry: Number(expiry), ...redirect }
    const { reply } = await create.mutateAsync({ body }).catch((error: unknown) => {
      // One that was deleted in the meantime cannot be picked.
      const details = error instanceof PenstockError ? error.details : []
      if (details.some(({ field }) => field.startsWith('body.configurationIds'))) setPicked({})
      throw error
    })
    setUrl(reply.url)
  }
  if (url) {
    return (
      <ShownOnce title={say.created} warning={say.copyTitle} help={say.copyHelp} action={say.copied} onClose={onClose}>
        <CopyField label={say.link} value={url} />
      </ShownOnce>
    )
  }
  return (
    <FormDialog
      title={say.create}
      size="lg"
      action={say.create}
      invalid={{ connectorIds: connectorIds.length === 0 && say.chooseOne }}
      onSubmit={send}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <PickSeveral
            label={say.connectors}
            description={say.connectorsHelp}
            placeholder={connectorIds.length === 0 ? say.chooseConnectors : ''}
            searchable
            maxValues={limits.connectLinkConnectorsMax}
            nothingFoundMessage={say.noConnectors}
            data={(catalogue ?? []).map(({ connectorId, name }) => ({ value: connectorId, label: name }))}
            value={connectorIds}
            error={errorOf('connectorIds')}
            onChange={setConnectorIds}
          />
          {connectorIds.map((id) => (
            <PickConfiguration
              key={id}
              accountId={accountId}
              connectorId={id}
              connectorName={nameOf(id)}
              configurationId={picked[id]}
              onPick={(configurationId) => setPicked((before) => ({ ...before, [id]: configurationId }))}
            />
          ))}
          <TextInput
            inputMode="url"
            label={say.redirect}
            description={say.redirectHelp}
            placeholder="https://shop.example.com/settings"
            maxLength={limits.redirectUrlLengthMax}
            value={redirectUrl}
            error={errorOf('redirectUrl')}
            onChange={({ currentTarget }) => setRedirectUrl(currentTarget.value)}
          />
          <Select
            label={say.expiry}
            description={say.expiryHelp}
            data={Object.entries(say.expiries).map(([value, label]) => ({ value, label }))}
            value={expiry}
            onChange={(next) => next && setExpiry(next)}
            allowDeselect={false}
            checkIconPosition="right"
            maw={280}
          />
        </>
      )}
    </FormDialog>
  )
}
