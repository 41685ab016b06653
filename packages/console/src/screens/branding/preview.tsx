import { Box, Card, Text, Title } from '@mantine/core'
import { logoOfPlatform } from '../../components/connector-name.tsx'
import { type Brand, Branded } from '../../connect-page/brand.tsx'
import { Intro } from '../../connect-page/intro.tsx'
import { branding as say } from '../../strings/branding.ts'
import { connectPage } from '../../strings/connect-page.ts'

/** A connector as an example: Meta Custom Audiences. */
const connector = {
  connectorId: 'example',
  name: 'Meta Custom Audiences',
  platform: 'Meta',
  logo: logoOfPlatform('f7f635720f3ab361'),
}

/** The first thing that a customer sees, drawn by what draws it there. Nothing in it can be pressed. */
export function Preview({ brand }: { brand: Brand }) {
  const page = {
    organizationName: brand.organizationName,
    accountName: say.sampleAccount,
    connectors: [connector],
    connectionName: null,
    activates: false,
  }
  return (
    <Card withBorder padding={0} component="section" aria-label={say.preview}>
      <Box px="lg" py="md" style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}>
        <Title order={2} size="h5">
          {say.preview}
        </Title>
        <Text size="sm" c="dimmed">
          {say.previewHelp}
        </Text>
      </Box>
      <Box inert style={{ background: 'var(--penstock-background)' }}>
        <Branded brand={brand}>
          <Box maw={600} mx="auto" px="md" py="lg">
            <Intro
              page={page}
              heading={(title) => (
                <Text fw={650} fz="h3" lh={1.35}>
                  {title}
                </Text>
              )}
            />
          </Box>
          <Text size="xs" c="dimmed" ta="center" pb="md">
            {connectPage.by}
          </Text>
        </Branded>
      </Box>
    </Card>
  )
}
