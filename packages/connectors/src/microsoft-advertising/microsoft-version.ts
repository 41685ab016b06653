/** The version of Microsoft Advertising's API that is called; Microsoft has announced no other. */
export const microsoftApi = { version: 'v13 (Campaign Management, JSON)', ends: 'No end is known.' }
