import { Button, Menu } from '@mantine/core'
import { operations, type Transfer } from '@penstock/wire'
import { IconChevronDown, IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { download } from '../../../api/download.ts'
import { notifyFailure } from '../../../components/notify.ts'
import { rejects as say } from '../../../strings/rejects.ts'

const endings = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' } as const
type DownloadType = keyof typeof endings

/** Saves all the records that a transfer rejected. */
export function Download({ transfer: { accountId, connectionId, id } }: { transfer: Transfer }) {
  const [busy, setBusy] = useState(false)
  const save = (type: DownloadType) => () => {
    const path = operations.listRejects.path.replace('{id}', connectionId).replace('{transferId}', id)
    setBusy(true)
    download(path, { accountId }, type, say.fileName(id, endings[type]))
      .catch(notifyFailure)
      .finally(() => setBusy(false))
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          size="sm"
          loading={busy}
          leftSection={<IconDownload size={16} aria-hidden />}
          rightSection={<IconChevronDown size={16} aria-hidden />}
        >
          {say.download}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={save('text/csv')}>{say.downloadCsv}</Menu.Item>
        <Menu.Item onClick={save('application/x-ndjson')}>{say.downloadNdjson}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
