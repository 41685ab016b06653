import { Modal, Select, Stack, Text } from '@mantine/core'
import { limits } from '@penstock/wire'
import { type FormEvent, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { Failure } from '../../components/failure.tsx'
import { FormButtons } from '../../components/form-buttons.tsx'
import { count } from '../../components/numbers.ts'
import { webhooks as say } from '../../strings/webhooks.ts'
import { WebhookSecret } from '../webhooks/webhook-secret.tsx'

const hours = [limits.rotationOverlapHoursDefault, 7 * 24, limits.rotationOverlapHoursMax]
const inWords = (n: number) => (n <= 48 ? say.overlapHours(count(n)) : say.overlapDays(count(n / 24)))

/** Rotates the secret of a webhook, and shows the new one. */
export function RotateSecret({ webhookId, onClose }: { webhookId: string; onClose: () => void }) {
  const rotate = useWrite('rotateWebhookSecret')
  const [overlapHours, setOverlap] = useState<number>(limits.rotationOverlapHoursDefault)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    rotate.mutate({ id: webhookId, body: { overlapHours } })
  }
  if (rotate.data) return <WebhookSecret secret={rotate.data.reply.secret} onClose={onClose} />
  return (
    <Modal opened onClose={onClose} title={say.rotate}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{say.rotateHelp}</Text>
          <Select
            label={say.overlap}
            data={[
              ...hours.map((n) => ({ value: String(n), label: inWords(n) })),
              { value: '0', label: say.overlapNone },
            ]}
            value={String(overlapHours)}
            onChange={(next) => setOverlap(Number(next ?? limits.rotationOverlapHoursDefault))}
            allowDeselect={false}
            checkIconPosition="right"
          />
          {rotate.error && <Failure error={rotate.error} />}
          <FormButtons busy={rotate.isPending} action={say.rotate} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
  )
}
