import { Select, Text } from '@mantine/core'
import { limits } from '@penstock/wire'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { count } from '../../components/numbers.ts'
import { webhooks as say } from '../../strings/webhooks.ts'
import { WebhookSecret } from '../webhooks/webhook-secret.tsx'

const hours = [limits.rotationOverlapHoursDefault, 7 * 24, limits.rotationOverlapHoursMax]
const inWords = (n: number) => (n <= 48 ? say.overlapHours(count(n)) : say.overlapDays(count(n / 24)))

/** Rotates the secret of a webhook, and shows the new one. */
export function RotateSecret({ webhookId, onClose }: { webhookId: string; onClose: () => void }) {
  const rotate = useWrite('rotateWebhookSecret')
  const [overlapHours, setOverlap] = useState<number>(limits.rotationOverlapHoursDefault)
  const send = async () => void (await rotate.mutateAsync({ id: webhookId, body: { overlapHours } }))
  if (rotate.data) return <WebhookSecret secret={rotate.data.reply.secret} onClose={onClose} />
  return (
    <FormDialog title={say.rotate} action={say.rotate} onSubmit={send} onClose={onClose}>
      <Text size="sm">{say.rotateHelp}</Text>
      <Select
        label={say.overlap}
        data={[...hours.map((n) => ({ value: String(n), label: inWords(n) })), { value: '0', label: say.overlapNone }]}
        value={String(overlapHours)}
        onChange={(next) => setOverlap(Number(next ?? limits.rotationOverlapHoursDefault))}
        allowDeselect={false}
        checkIconPosition="right"
      />
    </FormDialog>
  )
}
