import { Alert, Select, Text } from '@mantine/core'
import { type Client, type ClientWithSecret, limits } from '@penstock/wire'
import { IconAlertTriangle } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { sessionStore } from '../../api/session.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { count } from '../../components/numbers.ts'
import { apiKeys as say } from '../../strings/api-keys.ts'
import { SecretShown } from './secret-shown.tsx'

const hours = [limits.rotationOverlapHoursDefault, 7 * 24, limits.rotationOverlapHoursMax]
const inWords = (n: number) => (n <= 48 ? say.overlapHours(count(n)) : say.overlapDays(count(n / 24)))

/** Rotates the secret of client credentials, and shows the new one. */
export function RotateKey({ client, onClose }: { client: Client; onClose: () => void }) {
  const { id, previousSecretExpiresTime } = client
  const name = client.name ?? id
  const rotate = useWrite('rotateClient')
  const [overlap, setOverlap] = useState(limits.rotationOverlapHoursDefault as number)
  const [rotated, setRotated] = useState<ClientWithSecret>()
  const send = async () => setRotated((await rotate.mutateAsync({ id, body: { overlapHours: overlap } })).reply)
  if (rotated) return <SecretShown title={say.rotated(name)} client={rotated} onClose={onClose} />
  return (
    <FormDialog title={say.rotateTitle(name)} action={say.rotate} onSubmit={send} onClose={onClose}>
      <Text size="sm">{say.rotateHelp}</Text>
      <Select
        label={say.overlap}
        data={[...hours.map((n) => ({ value: String(n), label: inWords(n) })), { value: '0', label: say.overlapNone }]}
        value={String(overlap)}
        onChange={(next) => setOverlap(Number(next ?? limits.rotationOverlapHoursDefault))}
        allowDeselect={false}
        checkIconPosition="right"
      />
      {overlap === 0 && (
        <Warning title={say.atOnce}>
          {say.atOnceHelp} {id === sessionStore.read() && say.ownSession}
        </Warning>
      )}
      {overlap > 0 && previousSecretExpiresTime !== null && <Warning>{say.previousEnds}</Warning>}
    </FormDialog>
  )
}

function Warning({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title={title} role="status">
      {children}
    </Alert>
  )
}
