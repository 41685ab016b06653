import { Alert, Modal, Select, Stack, Text } from '@mantine/core'
import { type Client, type ClientWithSecret, limits } from '@penstock/wire'
import { IconAlertTriangle } from '@tabler/icons-react'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { sessionStore } from '../../api/session.ts'
import { Failure } from '../../components/failure.tsx'
import { FormButtons } from '../../components/form-buttons.tsx'
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
  const submit = (event: FormEvent) => {
    event.preventDefault()
    rotate.mutate({ id, body: { overlapHours: overlap } }, { onSuccess: ({ reply }) => setRotated(reply) })
  }
  if (rotated) return <SecretShown title={say.rotated(name)} client={rotated} onClose={onClose} />
  return (
    <Modal opened onClose={onClose} title={say.rotateTitle(name)}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{say.rotateHelp}</Text>
          <Select
            label={say.overlap}
            data={[
              ...hours.map((n) => ({ value: String(n), label: inWords(n) })),
              { value: '0', label: say.overlapNone },
            ]}
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
          {rotate.error && <Failure error={rotate.error} />}
          <FormButtons busy={rotate.isPending} action={say.rotate} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
  )
}

function Warning({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <Alert
      color="yellow"
      icon={<IconAlertTriangle aria-hidden />}
      {...(title ? { title } : {})}
      styles={{ message: { color: 'var(--mantine-color-text)' } }}
      role="status"
    >
      {children}
    </Alert>
  )
}
