import { Text } from '@mantine/core'
import type { Client } from '@penstock/wire'
import { useWrite } from '../../api/queries.ts'
import { sessionStore } from '../../api/session.ts'
import { Confirm } from '../../components/confirm.tsx'
import { notifyDone } from '../../components/notify.ts'
import { apiKeys as say } from '../../strings/api-keys.ts'

/** Revokes client credentials, after saying what ends with them. */
export function RevokeKey({ client, onClose }: { client: Client; onClose: () => void }) {
  const revoke = useWrite('revokeClient')
  const name = client.name ?? client.id
  return (
    <Confirm
      title={say.revokeTitle(name)}
      action={say.revoke}
      onClose={onClose}
      onConfirm={async () => {
        await revoke.mutateAsync({ id: client.id })
        notifyDone(say.revoked(name))
      }}
    >
      {say.revokeHelp}
      {client.id === sessionStore.read() && (
        <Text size="sm" fw={600} mt="sm">
          {say.ownSession}
        </Text>
      )}
    </Confirm>
  )
}
