import { Box, Button, Group, Stack, Text } from '@mantine/core'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { useDialog } from '../../components/form-dialog.tsx'
import { bytes } from '../../components/numbers.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Section } from '../../components/section.tsx'
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
  const forbidden = useForbidden('deleteUpload')
  const [dialog, open] = useDialog()
  if (!data || data.total === 0) return null
  return (
    <Section title={say.files} help={say.filesHelp} region>
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
                  onClick={() =>
                    open((close) => (
                      <ConfirmWrite
                        title={say.removeTitle}
                        action={say.remove}
                        operation="deleteUpload"
                        parameters={{ accountId, id: upload.id }}
                        done={say.removed(upload.name)}
                        onClose={close}
                      >
                        {say.removeHelp(upload.name)}
                      </ConfirmWrite>
                    ))
                  }
                >
                  {say.remove}
                </Button>
              )}
            </Group>
          </Group>
        ))}
      </Stack>
      {dialog}
    </Section>
  )
}
