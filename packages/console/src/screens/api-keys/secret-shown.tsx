import type { ClientWithSecret } from '@penstock/wire'
import { CopyField } from '../../components/copy-field.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { apiKeys as say } from '../../strings/api-keys.ts'

/** The new secret of an API key. */
export function SecretShown({
  title,
  client: { id, clientSecret },
  onClose,
}: {
  title: string
  client: ClientWithSecret
  onClose: () => void
}) {
  return (
    <ShownOnce
      title={title}
      warning={say.secretTitle}
      help={say.secretHelp}
      action={say.secretStored}
      onClose={onClose}
    >
      <CopyField label={say.clientId} value={id} />
      <CopyField label={say.clientSecret} value={clientSecret} />
    </ShownOnce>
  )
}
