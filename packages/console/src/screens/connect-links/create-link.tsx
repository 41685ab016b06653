import { Alert, Button, Group, Modal, MultiSelect, Select, Stack, TextInput } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { limits } from '@penstock/wire'
import { IconAlertTriangle } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { CopyField } from '../../components/copy-field.tsx'
import { Failure } from '../../components/failure.tsx'
import { FormButtons } from '../../components/form-buttons.tsx'
import { connectLinks as say } from '../../strings/connect-links.ts'
import { useCatalogue } from './use-catalogue.ts'

/** Creates a connect link, and shows its address, which is shown once. */
export function CreateLink({ accountId, onClose }: { accountId: string; onClose: () => void }) {
  const catalogue = useCatalogue(accountId)
  const create = useWrite('createConnectLink')
  const [connectorIds, setConnectorIds] = useState<string[]>([])
  const [redirectUrl, setRedirectUrl] = useState('')
  const [expiry, setExpiry] = useState(String(limits.connectLinkSecondsDefault))
  const [tried, setTried] = useState(false)

  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (connectorIds.length === 0) return
    const redirect = redirectUrl.trim()
    create.mutate({
      body: { accountId, connectorIds, expiry: Number(expiry), ...(redirect ? { redirectUrl: redirect } : {}) },
    })
  }
  if (create.data) return <LinkShown url={create.data.reply.url} onClose={onClose} />
  const details = create.error instanceof PenstockError ? create.error.details : []
  const wrongUrl = details.find(({ field }) => field === 'body.redirectUrl')?.message
  const noConnector = tried && connectorIds.length === 0
  return (
    <Modal opened onClose={onClose} title={say.create} size="lg">
      <form onSubmit={submit} noValidate>
        <Stack>
          <MultiSelect
            label={say.connectors}
            description={say.connectorsHelp}
            placeholder={connectorIds.length === 0 ? say.chooseConnectors : ''}
            searchable
            hidePickedOptions
            maxValues={limits.connectLinkConnectorsMax}
            nothingFoundMessage={say.noConnectors}
            data={(catalogue ?? []).map(({ connectorId, name }) => ({ value: connectorId, label: name }))}
            value={connectorIds}
            error={noConnector ? say.chooseOne : undefined}
            onChange={setConnectorIds}
          />
          <TextInput
            type="url"
            label={say.redirect}
            description={say.redirectHelp}
            placeholder="https://shop.example.com/settings"
            maxLength={limits.redirectUrlLengthMax}
            value={redirectUrl}
            error={wrongUrl && `${wrongUrl.charAt(0).toUpperCase()}${wrongUrl.slice(1)}.`}
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
          {create.error && !wrongUrl && <Failure error={create.error} />}
          <FormButtons busy={create.isPending} action={say.create} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
  )
}

function LinkShown({ url, onClose }: { url: string; onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={say.created} size="lg" closeOnClickOutside={false} closeOnEscape={false}>
      <Stack>
        <Alert
          color="yellow"
          icon={<IconAlertTriangle aria-hidden />}
          title={say.copyTitle}
          styles={{ message: { color: 'var(--mantine-color-text)' } }}
        >
          {say.copyHelp}
        </Alert>
        <CopyField label={say.link} value={url} />
        <Group justify="flex-end">
          <Button onClick={onClose}>{say.copied}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
