import { Box, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import type { Upload } from '@penstock/wire'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { Confirm } from '../../components/confirm.tsx'
import { notifyDone } from '../../components/notify.ts'
import { bytes } from '../../components/numbers.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Time } from '../../components/time.tsx'
import { start as say } from '../../strings/start.ts'
import type { Beginning } from './use-begin.ts'

/** Files that the sub-account has already, to use again and to delete. Nothing if there is none. */
export function Files({
  accountId,
  begin,
  reason,
}: {
  accountId: string
  begin: Beginning
  reason: string | undefined
}) {
  const { data } = useRead('listUploads', { accountId, query: { size: 20 } })
  const remove = useWrite('deleteUpload')
  const forbidden = useForbidden('deleteUpload')
  const [asked, setAsked] = useState<Upload>()
  if (!data || data.total === 0) return null
  return (
    <Card withBorder component="section" aria-label={say.files}>
      <Stack gap="sm">
        <Box>
          <Title order={2} size="h5">
            {say.files}
          </Title>
          <Text size="sm" c="dimmed">
            {say.filesHelp}
          </Text>
        </Box>
        <Stack gap="sm" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
          {data.reply.map((upload) => (
            <Group key={upload.id} component="li" justify="space-between" gap="xs">
              <Box miw={0} style={{ flex: '1 1 14rem' }}>
                <Text size="sm" fw={550} style={{ overflowWrap: 'anywhere' }}>
                  {upload.name}
                </Text>
                <Text size="xs" c="dimmed">
                  {bytes(upload.sizeBytes)} · {say.expires} <Time seconds={upload.expiresTime} planned />
                </Text>
              </Box>
              <Group gap="xs" wrap="nowrap">
                <ReasonedButton
                  size="compact-sm"
                  variant="default"
                  reason={reason}
                  aria-label={say.chooseOf(upload.name)}
                  onClick={() => begin.withUpload(upload)}
                >
                  {say.choose}
                </ReasonedButton>
                {forbidden === undefined && (
                  <Button
                    size="compact-sm"
                    variant="subtle"
                    color="red"
                    aria-label={say.removeOf(upload.name)}
                    onClick={() => setAsked(upload)}
                  >
                    {say.remove}
                  </Button>
                )}
              </Group>
            </Group>
          ))}
        </Stack>
      </Stack>
      {asked && (
        <Confirm
          title={say.removeTitle}
          action={say.remove}
          onClose={() => setAsked(undefined)}
          onConfirm={async () => {
            await remove.mutateAsync({ accountId, id: asked.id })
            notifyDone(say.removed(asked.name))
          }}
        >
          {say.removeHelp(asked.name)}
        </Confirm>
      )}
    </Card>
  )
}
