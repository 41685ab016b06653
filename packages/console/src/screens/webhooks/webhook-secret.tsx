import { CopyField } from '../../components/copy-field.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { webhooks as say } from '../../strings/webhooks.ts'

/** The new secret of a webhook. */
export function WebhookSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  const words = { title: say.secretOf, warning: say.secretTitle, help: say.secretHelp, action: say.secretStored }
  return (
    <ShownOnce {...words} onClose={onClose}>
      <CopyField label={say.secret} value={secret} />
    </ShownOnce>
  )
}
