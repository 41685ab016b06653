import { Box, Card, SimpleGrid, Text, Title } from '@mantine/core'
import { httpApiConnectorId, webhookConnectorId } from '@penstock/wire'
import { IconApi, IconFileUpload, IconWebhook } from '@tabler/icons-react'
import { Link } from 'react-router'
import { pathOf } from '../../shell/account.ts'
import { notHere as say } from '../../strings/catalogue.ts'
import classes from './not-here.module.css'

/** Three answers for a platform without a connector. */
export function NotHere({ accountId }: { accountId: string }) {
  const answers = [
    { ...say.read, Icon: IconApi, to: `catalogue/${httpApiConnectorId}` },
    { ...say.send, Icon: IconWebhook, to: `catalogue/${webhookConnectorId}` },
    { ...say.upload, Icon: IconFileUpload, to: 'start' },
  ]
  return (
    <Card withBorder padding={0} component="section" aria-label={say.title}>
      <SimpleGrid cols={{ base: 1, md: 4 }} spacing={0} verticalSpacing={0}>
        <Box p="md">
          <Title order={2} size="h5">
            {say.title}
          </Title>
          <Text size="sm" c="dimmed">
            {say.help}
          </Text>
        </Box>
        {answers.map(({ title, help, Icon, to }) => (
          <Link key={to} to={pathOf(accountId, to)} className={classes.answer}>
            <Icon size={20} aria-hidden style={{ flex: 'none' }} />
            <Box miw={0}>
              <Text size="sm" fw={600}>
                {title}
              </Text>
              <Text size="xs" c="dimmed">
                {help}
              </Text>
            </Box>
          </Link>
        ))}
      </SimpleGrid>
    </Card>
  )
}
