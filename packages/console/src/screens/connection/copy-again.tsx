import { Checkbox, Stack, Text } from '@mantine/core'
import { type Connection, type ConnectionDetails, errors, type SideDefinition } from '@penstock/wire'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { Confirm } from '../../components/confirm.tsx'
import { DialogButton } from '../../components/form-dialog.tsx'
import { copyAgain as say } from '../../strings/copy-again.ts'
import { ownSettings } from './own-settings.ts'

/**
 * The button that cures changes which cannot be read any more, or a copy that left removed rows: it resets the state and starts a transfer that
 * copies the table, as a mirror if the person wants that.
 */
export function CopyAgain({ connection }: { connection: Pick<Connection, 'accountId' | 'id' | 'status' | 'dest'> }) {
  const { accountId, id, status, dest } = connection
  const forbidden = useForbidden('resetConnectionState')
  const found = useRead('getConnection', { accountId, id }).data?.reply
  const definition = useRead('getConnectorDefinition', { id: dest.connectorId }).data?.reply
  const side = definition?.destination
  if (!found || !side) return null
  const isOff = status === 'disabled' || status === 'deleted'
  return (
    <DialogButton
      size="compact-sm"
      reason={forbidden ?? (isOff ? errors.connection_not_active.message : undefined)}
      dialog={(close) => <Ask connection={found} side={side} onClose={close} />}
    >
      {say.action}
    </DialogButton>
  )
}

function Ask({
  connection,
  side,
  onClose,
}: {
  connection: ConnectionDetails
  side: SideDefinition
  onClose: () => void
}) {
  const { accountId, id, name, status, destConnectionConfig } = connection
  const of = { accountId, id }
  const [update, move] = [useWrite('updateConnection'), useWrite('updateConnectionStatus')]
  const [reset, start] = [useWrite('resetConnectionState'), useWrite('startTransfer')]
  const isMirror = destConnectionConfig.sendRows === 'Mirror'
  const canMirror =
    destConnectionConfig.writeMode === 'Upsert' &&
    side.fields.some(({ name, options = [] }) => name === 'sendRows' && options.includes('Mirror'))
  const [mirrors, setMirrors] = useState(!isMirror && canMirror)
  const copy = async () => {
    if (mirrors) {
      const config = { ...ownSettings(destConnectionConfig, side), sendRows: 'Mirror' }
      await update.mutateAsync({ ...of, body: { destConnectionConfig: config } })
    }
    await reset.mutateAsync({ ...of, body: { cursor: true, rows: true } })
    if (status !== 'active') await move.mutateAsync({ ...of, body: { action: 'activate' } })
    await start.mutateAsync({ ...of, body: {} })
    return say.started(name)
  }
  return (
    <Confirm title={say.title(name)} action={say.action} onConfirm={copy} onClose={onClose}>
      <Stack gap="sm">
        <Text size="sm">{isMirror ? say.helpOfMirror : say.help}</Text>
        {!isMirror && canMirror && (
          <Checkbox
            label={say.mirror}
            description={say.mirrorHelp}
            checked={mirrors}
            onChange={({ currentTarget }) => setMirrors(currentTarget.checked)}
          />
        )}
      </Stack>
    </Confirm>
  )
}
