import { Button, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { Logo, logoOfPlatform } from '../../components/connector-name.tsx'
import { route as say } from '../../strings/catalogue.ts'
import type { Route } from './route.ts'
import { replacePart, type Sentence, withSource } from './sentence.ts'
import type { KnownConnector } from './vocabulary.ts'

const othersMax = 4

/** Routes that the sentence can mean too. Each changes the sentence. */
export function Alternatives({
  sentence,
  route: { source, destinations },
  onChange,
}: {
  sentence: Sentence
  route: Route
  onChange: (text: string) => void
}) {
  const { part, others = [] } = source ?? {}
  // An exact name has no other meaning.
  const shown = part && part.named.length > 0 ? [] : others.slice(0, othersMax)
  if (shown.length === 0 || destinations.length === 0) return null
  const names = destinations.map(({ connector }) => connector.name)
  const use = ({ name }: KnownConnector) =>
    onChange(part ? replacePart(sentence, part, name) : withSource(sentence, name))
  return (
    <Stack gap="sm" component="section" aria-label={part ? say.alternatives : say.anotherSource}>
      <Title order={2} size="h5">
        {part ? say.alternatives : say.anotherSource}
      </Title>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
        {shown.map((one) => (
          <Card key={one.connectorId} withBorder padding="sm">
            <Group wrap="nowrap" gap="sm">
              <Logo src={logoOfPlatform(one.platformId)} size={24} />
              <Text size="sm" fw={600} style={{ flex: 1, overflowWrap: 'anywhere' }}>
                {say.from(one.name, names)}
              </Text>
              <Button variant="default" size="compact-sm" aria-label={say.pickOne(one.name)} onClick={() => use(one)}>
                {say.use}
              </Button>
            </Group>
          </Card>
        ))}
      </SimpleGrid>
    </Stack>
  )
}
